function refuse (what, instead, advice)
%refuse  The error of what a DeviceArray does not have, and what to do instead.

  if nargin < 2
    instead = [what ' (gather (u))'];
  elseif isempty (instead)
    instead = 'x = gather (u)';
  end
  if nargin < 3
    advice = '';
  end
  error ('DeviceArray:unsupported', ...
         'Not supported for a DeviceArray: %s. %sGather it first: %s.', what, advice, instead);
end
