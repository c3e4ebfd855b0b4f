/** What a query has to say, in a header: forms of results that are rows alone have no place for it. */
import { isPlainObject, type Json } from '../../kernel/json.ts'
import type { QueryMessage } from './contract.ts'

export const MESSAGES_HEADER = 'query-messages'
/** characters: what stands between takes headers of a few thousand */
const MAX_CHARACTERS = 4_000

/** JSON in ASCII, as many messages as fit; undefined without any. */
export function headerOf(messages: readonly QueryMessage[]): string | undefined {
  const texts: string[] = []
  let characters = 2
  for (const message of messages) {
    const text = JSON.stringify(message).replaceAll(/[^ -~]/g, escaped)
    characters += text.length + 1
    if (characters > MAX_CHARACTERS) break
    texts.push(text)
  }
  return texts.length === 0 ? undefined : `[${texts.join(',')}]`
}

export function messagesOf(header: string | null): readonly QueryMessage[] {
  if (header === null) return []
  const list = JSON.parse(header) as Json
  return Array.isArray(list) ? (list.filter(isPlainObject) as unknown as readonly QueryMessage[]) : []
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}
