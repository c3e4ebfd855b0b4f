/** Matches label values with the part of regular expressions that needs linear time: literals, `.*`, `.+` and `|`. */
import { AppError } from '#kernel'

/** `text`: the whole value; `alternatives`: literal parts, between which any text may stand */
export type Pattern = { readonly text: string } | { readonly alternatives: readonly (readonly Part[])[] }

/** `atLeast`: length of the free text before the literal; undefined: none */
interface Part {
  readonly literal: string
  readonly atLeast: 0 | 1 | undefined
}

/** Throws `VALIDATION` for other expressions. */
export function patternOf(source: string): Pattern {
  const inner = /^\((?:\?:)?([^()]*)\)$/.exec(source)?.[1] ?? source
  const alternatives: Part[][] = [[]]
  let atLeast: Part['atLeast']
  let literal = ''
  const push = (): void => {
    if (literal !== '' || atLeast !== undefined) alternatives.at(-1)?.push({ literal, atLeast })
    literal = ''
    atLeast = undefined
  }
  for (const [token] of inner.matchAll(/\\.|\.[*+]|[^]/gsu)) {
    if (token === '|') {
      push()
      alternatives.push([])
    } else if (token === '.*' || token === '.+') {
      push()
      atLeast = token === '.+' ? 1 : 0
    } else if (token.length === 2 && token.startsWith('\\') && !/[A-Za-z0-9]/.test(token[1] ?? '')) literal += token[1]
    else if (/^[.\\^$*+?()[\]{}]/.test(token)) {
      const message = `${JSON.stringify(source.slice(0, 100))} is not a supported pattern; use texts, .* and .+, separated by |`
      throw new AppError('VALIDATION', message)
    } else literal += token
  }
  push()
  return { alternatives }
}

export function matches(pattern: Pattern, value: string): boolean {
  if ('text' in pattern) return pattern.text === value
  return pattern.alternatives.some((parts) => fits(parts, value))
}

function fits(parts: readonly Part[], value: string): boolean {
  let at = 0
  for (const [i, { literal, atLeast }] of parts.entries()) {
    const isLast = i === parts.length - 1
    if (atLeast === undefined) {
      if (!value.startsWith(literal, at)) return false
      at += literal.length
    } else if (isLast) {
      const start = value.length - literal.length
      if (start < at + atLeast || !value.endsWith(literal)) return false
      at = value.length
    } else {
      const found = value.indexOf(literal, at + atLeast)
      if (found === -1) return false
      at = found + literal.length
    }
  }
  return at === value.length
}
