/** Counts words and phrases that plain English avoids in comments, string literals and documents. */
import { proseOf } from './read-markdown.ts'
import { scanSource } from './scan-source.ts'

/** Banned words and phrases, each with a better form. */
export const BANNED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bwhoever\b/gi, 'the noun: client, caller, reader'],
  [/\b(?:nobody|somebody|anybody)\b/gi, 'the noun, or the passive: "events without a subscriber"'],
  [/\bthose that\b/gi, 'the noun: "tasks that"'],
  [/\b(?:told|tells)\b/gi, 'notify, report, return'],
  [/\b(?:heard|hears)\b/gi, 'receive, observe'],
  [/\bgives\b/gi, 'return, produce, supply'],
  [/\b(?:is|are|was|were) no\b(?! (?:longer|more)\b)/gi, '"is not a ..." or an adjective: invalid'],
  [/\banew\b/gi, 'again, restart, rewrite'],
  [/\bas long as it comes\b/gi, 'until it ends, with an idle timeout'],
  [/\bwhat is left of\b/gi, 'the rest of'],
]

/** Counts each banned word in a text, by the word in lower case. Words that do not occur are absent. */
export function bannedIn(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const flat = text.replaceAll(/\s*\n\s*(?:\*(?!\/)|\/\/)?\s*/g, ' ')
  for (const [pattern] of BANNED) {
    for (const [word] of flat.matchAll(pattern))
      counts.set(word.toLowerCase(), (counts.get(word.toLowerCase()) ?? 0) + 1)
  }
  return counts
}

/** Returns the comments and string literals of TypeScript, without the code between them. */
export function wordsOfSource(source: string): string {
  const { code } = scanSource(source)
  let words = ''
  for (let at = 0; at < source.length; at++) words += (code[at] ?? '').trim() === '' ? source[at] : '\0'
  return words
}

/** Returns a document without fenced blocks, inline code, HTML comments and the glossary's table of retired words. */
export function wordsOfDocument(markdown: string): string {
  const [prose = ''] = proseOf(markdown).split('\n## Retired words\n')
  return prose.replaceAll(/<!--[\s\S]*?-->|`[^`]*`/g, '\0')
}
