function ordinary (name, varargin)
%ordinary  Refuses a DeviceArray where a number or a list of numbers is wanted.

  if any (cellfun (@(x) isa (x, 'DeviceArray'), varargin))
    refuse (['an input of ' name ' but the array'], 'gather (u)');
  end
end
