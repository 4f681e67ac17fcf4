function call = fromBase ()
%fromBase  What calls a function, CALL (F, ...), as the host's base does:
%          there no function of this folder takes the place of F, or of one
%          that F calls, for it has the same name.

  persistent kept
  if isempty (kept)
    % Some versions of Octave keep what they could warn of while they read the text.
    [text, identifier] = lastwarn ();
    kept = evalin ('base', '@(f, varargin) f (varargin{:});');
    lastwarn (text, identifier);
  end
  call = kept;
end
