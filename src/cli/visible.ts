/** Texts made of data, on one line and without control characters: what a device sends must not draw on the screen. */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
}
