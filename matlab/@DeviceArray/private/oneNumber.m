function x = oneNumber (x)
%oneNumber  The number that an array of one element is; in a step that is
%           being recorded there is none yet, and it stays an array.

  if ~isRecorded (x)
    x = gather (x);
  end
end
