function dims = dimensions (given)
%dimensions  Dimensions in one row: of any classes of numbers, each by itself or
%   several together.

  dims = [];
  for i = 1:numel (given)
    d = given{i};
    if isa (d, 'DeviceArray')
      refuse ('a size', 'gather (u)');
    end
    dims = [dims, double(d(:).')]; %#ok<AGROW>
  end
end
