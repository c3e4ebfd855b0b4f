/** Replaces placeholders in the text of an expression by marks of the same length, so that columns stay correct. */
import { scanBinding, type Binding } from '../placeholders/binding.ts'

export interface Problem {
  readonly at: number
  readonly message: string
  readonly suggestion: string
}

export interface Source {
  /** text for the parser; as long as the original */
  readonly marked: string
  readonly bindings: readonly Binding[]
  readonly problems: readonly Problem[]
}

/** Maximum number of bindings. A binding has at least four characters, so a letter and three digits always fit. */
const MAX_BINDINGS = 999
const NAME = '\u0180'
const FIRST_MARK = 0xe100
const FILL = '\ue000'
const MARKS = /([\ue100-\ue4e6])\ue000*/
const REGEX = /\/(?:[^/\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+\//y
const MAX_REGEX = 2000
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};~<>%^*]|[^+]\+|[^-]-|\b(?:return|typeof|case|in|of|void|throw|else|do))$/

const IN_REGEX = {
  message: 'a regular expression contains a placeholder',
  suggestion: 'make it from a text, such as new RegExp("^${nodes.a.state}$")',
}

export function readSource(text: string): Source {
  const bindings: Binding[] = []
  const problems: Problem[] = []
  let marked = ''
  let copied = 0
  /** open delimiters: `'` and `"` for texts, a backtick for a template literal, `{` for braces */
  const around: string[] = []
  /** end of the last placeholder: a slash after it is a division */
  let valueEnd = -1
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    const inside = around.at(-1)
    const quoted = inside === '"' || inside === "'"
    if (character === '\\' && inside !== undefined && inside !== '{') {
      at++
    } else if (inside === '`') {
      if (character === '`') around.pop()
      else if (character === '$' && text[at + 1] === '{') {
        around.push('{')
        at++
      }
    } else if (character === '$' && opens(text, at)) {
      const inner = text.indexOf('{', at) + 1
      const scanned = scanBinding(text, at, inner)
      if ('fault' in scanned) {
        problems.push({ at, ...scanned.fault })
      } else if (bindings.length >= MAX_BINDINGS) {
        problems.push({ at, message: `the text has more than ${MAX_BINDINGS} placeholders`, suggestion: 'use fewer' })
      } else {
        marked += text.slice(copied, at) + mark(bindings.length, quoted).padEnd(scanned.end - at, quoted ? FILL : '_')
        copied = scanned.end
        valueEnd = scanned.end
        bindings.push(scanned.binding)
      }
      at = Math.max(at, scanned.end - 1)
    } else if (quoted) {
      if (character === inside) around.pop()
    } else if (character === '/' && (text[at + 1] === '/' || text[at + 1] === '*')) {
      const isLine = text[at + 1] === '/'
      const end = isLine ? text.indexOf('\n', at) : text.indexOf('*/', at + 2)
      at = end === -1 ? text.length : isLine ? end : end + 1
    } else if (character === '/') {
      const isDivided = at - valueEnd < 40 && valueEnd !== -1 && text.slice(valueEnd, at).trim() === ''
      const length = isDivided ? 0 : regexLength(text, at)
      const open = text.slice(at, at + length).search(/\$\{\??(?:nodes|streamdata|task|node|variables|vault|loop)\b/)
      if (open !== -1) problems.push({ at: at + open, ...IN_REGEX })
      at += Math.max(0, length - 1)
    } else if (character === '"' || character === "'" || character === '`' || character === '{') {
      around.push(character)
    } else if (character === '}') {
      around.pop()
    }
  }
  return { marked: marked + text.slice(copied), bindings, problems }
}

export function bindingOfName(name: string, { bindings }: Source): Binding | undefined {
  return name.startsWith(NAME) ? bindings[Number.parseInt(name.slice(1), 10)] : undefined
}

export function partsOfText(value: string, { bindings }: Source): readonly (string | Binding)[] {
  if (bindings.length === 0) return [value]
  const pieces = value.split(MARKS)
  return pieces.flatMap((piece, index): (string | Binding)[] => {
    const binding = index % 2 === 1 ? bindings[piece.charCodeAt(0) - FIRST_MARK] : undefined
    return binding ? [binding] : piece === '' ? [] : [piece]
  })
}

export function isMarked(value: string): boolean {
  return MARKS.test(value)
}

/** Returns the length of the regular expression that begins at a slash; 0 for a division. */
function regexLength(text: string, at: number): number {
  if (!BEFORE_REGEX.test(text.slice(Math.max(0, at - 40), at).trimEnd())) return 0
  REGEX.lastIndex = 0
  return REGEX.exec(text.slice(at, at + MAX_REGEX))?.[0].length ?? 0
}

function opens(text: string, at: number): boolean {
  return text[at + 1] === '{' || (text[at + 1] === '$' && text[at + 2] === '{')
}

function mark(index: number, quoted: boolean): string {
  return quoted ? String.fromCharCode(FIRST_MARK + index) : `${NAME}${index}`
}
