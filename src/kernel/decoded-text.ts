/** Percent-decodes a part of a URL; returns malformed input unchanged. */
export function decodedText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
