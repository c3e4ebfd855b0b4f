/** Finds `${path}`, `$${path}`, `${?path}` and `$${?path}` in a text; inserted values are never parsed. */
import { EMPTY, scanSegments, toPath, unexpected, type Fault } from './path.ts'
import type { Path, Root } from './scope.ts'

export interface BindingUse {
  /** source text of the placeholder, such as `${?nodes.a.state}` */
  readonly text: string
  readonly root: Root
  readonly segments: readonly string[]
  /** true: a missing value is not an error */
  readonly optional: boolean
  readonly pointer: string
}

export interface BindingProblem {
  /** JSON pointer of the text, relative to the searched value */
  readonly pointer: string
  readonly message: string
  readonly suggestion: string
}

export interface Binding {
  readonly text: string
  readonly path: Path
  readonly optional: boolean
  /** true for `$${}`: the value is inserted as a JSON literal */
  readonly json: boolean
}

export interface ParsedText {
  /** plain texts and bindings in order; plain texts are not empty and never adjacent */
  readonly parts: readonly (string | Binding)[]
  readonly faults: readonly Fault[]
}

/** Splits a text into plain parts and bindings. Never throws; a broken binding becomes a fault instead of a part. */
export function parseText(text: string): ParsedText {
  const parts: (string | Binding)[] = []
  const faults: Fault[] = []
  let plain = ''
  let from = 0
  for (let open = text.indexOf('${'); open >= 0; open = text.indexOf('${', from)) {
    const start = open > from && text[open - 1] === '$' ? open - 1 : open
    let slashes = 0
    while (start - slashes > from && text[start - slashes - 1] === '\\') slashes++
    plain += text.slice(from, start - slashes) + '\\'.repeat(slashes >> 1)
    if (slashes % 2 === 1) {
      plain += text.slice(start, open + 2)
      from = open + 2
      continue
    }
    const result = scanBinding(text, start, open + 2)
    from = result.end
    if ('fault' in result) {
      faults.push(result.fault)
      continue
    }
    if (plain !== '') parts.push(plain)
    plain = ''
    parts.push(result.binding)
  }
  plain += text.slice(from)
  if (plain !== '') parts.push(plain)
  return { parts, faults }
}

export function wholeBinding(parsed: ParsedText): Binding | undefined {
  const [first] = parsed.parts
  return parsed.parts.length === 1 && typeof first === 'object' ? first : undefined
}

export function useOf(binding: Binding, pointer: string): BindingUse {
  const { text, path, optional } = binding
  return { text, root: path.root, segments: path.segments, optional, pointer }
}

export type Scanned = { binding: Binding; end: number } | { fault: Fault; end: number }

/** Scans the binding that begins at `start` and whose path begins at `inside`. Never throws. */
export function scanBinding(text: string, start: number, inside: number): Scanned {
  const optional = text[inside] === '?'
  const begin = optional ? inside + 1 : inside
  if (text[begin] === '}') return { fault: describe(text.slice(start, begin + 1), EMPTY), end: begin + 1 }
  const { segments, end, fault } = scanSegments(text, begin)
  // scanning continues where it stopped, so that a text full of broken bindings still takes one pass
  const shown = text.slice(start, Math.min(end + 1, start + 60))
  if (end >= text.length) {
    return {
      fault: { message: `"${shown}" is never closed`, suggestion: 'close it with }, or write \\${ for a plain ${' },
      end,
    }
  }
  if (fault) return { fault: describe(shown, fault), end }
  if (text[end] !== '}') return { fault: describe(shown, unexpected(text.charAt(end))), end }
  const parsed = toPath(segments)
  const whole = text.slice(start, end + 1)
  if ('fault' in parsed) return { fault: describe(whole, parsed.fault), end: end + 1 }
  return { binding: { text: whole, path: parsed.path, optional, json: start === inside - 3 }, end: end + 1 }
}

function describe(text: string, fault: Fault): Fault {
  return { message: `"${text}": ${fault.message}`, suggestion: fault.suggestion }
}
