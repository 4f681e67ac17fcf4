function u = permute (this, order)
%permute  Dimensions in another order, on the device.
%
%   V = permute (U, ORDER)
%
%   ORDER holds the numbers of all dimensions, once each. Where elements would
%   change places it is an error.
%
%   Example
%     size (permute (DeviceArray (1:3), [2 1]))  % 3 1
%
%   See also DeviceArray, reshape, squeeze.

  d = DeviceArray_CUDA ('size', this);
  if ~isequal (sort (order(:).'), 1:numel (order)) || numel (order) < numel (d)
    error ('DeviceArray:dimension', 'permute: the order must hold 1 to %d once each.', ...
           numel (d));
  end
  d(end+1:numel (order)) = 1;
  if any (diff (order(d(order) ~= 1)) < 0)
    % Elements would change places.
    refuse ('permute that moves elements', 'permute (gather (u), order)');
  end
  u = DeviceArray_CUDA ('reshape', this, d(order));
end
