/** Puts a list into a header as JSON: ASCII, truncated to what fits into a header. */
import type { Json } from '#kernel'

/** maximum number of characters; proxies accept headers of a few thousand */
const MAX_CHARACTERS = 4_000

export function headerOfList(list: readonly object[]): string | undefined {
  const texts: string[] = []
  let characters = 2
  for (const item of list) {
    const text = JSON.stringify(item).replaceAll(/[^ -~]/g, escaped)
    characters += text.length + 1
    if (characters > MAX_CHARACTERS) break
    texts.push(text)
  }
  return texts.length === 0 ? undefined : `[${texts.join(',')}]`
}

export function listOfHeader(header: string | null): readonly Json[] {
  return header === null ? [] : (JSON.parse(header) as readonly Json[])
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}
