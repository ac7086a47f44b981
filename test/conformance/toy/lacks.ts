/** What telegrams have no words for, on either side. */
export const TELEGRAPH_LACKS = {
  'one call at a time': 'a model may call as many tools as it likes',
  images: 'a line is text',
  'images in results': 'a line is text',
  'JSON of a schema': 'nobody can hold the model to one: it is asked in words',
  'stop texts': 'there is no member for them: the relay looks for them in the answer',
  'reasoning shown': 'thoughts are counted, and not told',
  'reasoning given back': 'thoughts are counted, and not told',
};
