/** A part of an address, percent-decoded; what cannot be decoded is as it is. */
export function decodedText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
