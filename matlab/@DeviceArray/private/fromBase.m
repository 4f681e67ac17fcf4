function call = fromBase ()
%fromBase  Returns a function that calls F: CALL (F, ...). It calls from the
%          base workspace, so no private function of this folder takes the
%          place of F for having its name.

  persistent kept
  if isempty (kept)
    % Some versions of Octave keep what they could warn of while they read the text.
    [text, identifier] = lastwarn ();
    kept = evalin ('base', '@(f, varargin) f (varargin{:});');
    lastwarn (text, identifier);
  end
  call = kept;
end
