function guard = whenGone (action)
%whenGone  Returns a value that does something when it is destroyed, and does it
%          again: ACTION takes any inputs, and may find that all is done.
%
%   Octave gives up an action that Ctrl-C meets, and goes on. The second follows
%   in any case, since the first holds it.

  second = onCleanup (action);
  guard = onCleanup (@() action (second));
end
