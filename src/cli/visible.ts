/** Makes text from data safe for a terminal: one line, without control characters. */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
}
