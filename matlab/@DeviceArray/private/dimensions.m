function dims = dimensions (given)
%dimensions  Dimensions in one row: of any classes of numbers, each by itself or
%   several together.

  if any (cellfun (@(d) isa (d, 'DeviceArray'), given))
    refuse ('a size', 'gather (u)');
  end
  given = cellfun (@(d) double (d(:).'), given, 'UniformOutput', false);
  dims = [given{:}];
end
