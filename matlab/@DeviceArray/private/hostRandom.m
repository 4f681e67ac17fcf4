function state = hostRandom (state)
%hostRandom  The state of the host's generators of random numbers, in a column;
%            with an input it is set.

  persistent isOctave
  if isempty (isOctave)
    isOctave = exist ('OCTAVE_VERSION', 'builtin') ~= 0;
  end
  if isOctave && nargin == 0
    state = [rand('state'); randn('state')];
  elseif isOctave
    rand ('state', state(1:end/2));
    randn ('state', state(end/2+1:end));
  elseif nargin == 0
    all = rng ();
    state = double (all.State(:));
  else
    all = rng ();
    all.State(:) = state;
    rng (all);
  end
end
