function v = permute (u, order)
%permute  Dimensions in another order.
%
%   V = permute (U, ORDER)
%
%   Dimension K of V is dimension ORDER(K) of U. ORDER holds the numbers of all
%   dimensions, once each.
%
%   Example
%     gather (permute (DeviceArray ([1 2; 3 4]), [2 1]))  % 1 3; 2 4
%
%   See also DeviceArray, ipermute, reshape, squeeze.

  ordinary ('permute', order);
  v = DeviceArray_CUDA ('permute', u, double (order(:).'));
end
