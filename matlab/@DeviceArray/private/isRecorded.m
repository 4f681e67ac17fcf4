function yes = isRecorded (u)
%isRecorded  Returns true for an array of a step that is being recorded.

  at = DeviceArray_CUDA ('where', u);
  yes = at.Recorded ~= 0;
end
