/** JSON lists in a header: ASCII, truncated to what a header holds. */
import type { Json } from '#kernel'

/** Maximum characters: proxies accept headers of a few thousand */
const MAX_CHARACTERS = 4_000

/** Undefined when the list is empty, or its first item is too long. */
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

/** Parses the text of `headerOfList`; empty without it. */
export function listOfHeader(header: string | null): readonly Json[] {
  return header === null ? [] : (JSON.parse(header) as readonly Json[])
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}
