function kind = strangeKind (x)
%strangeKind  Tells of what no DeviceArray can be: its size and class; empty for
%             what one can be.

  kind = '';
  if isa (x, 'DeviceArray')
    return;
  end
  if ~(isnumeric (x) || islogical (x)) || ~isreal (x) || issparse (x) || isa (x, 'int64') || isa (x, 'uint64')
    word = {'', 'complex ', 'sparse '};
    kind = [sizeText(size (x)) ' ' word{1 + (~isreal (x) && isnumeric (x)) + 2 * issparse (x)} class(x)];
  end
end
