/** Implements methods of java.lang.String. */
import { failed } from '../fault.ts'
import { JavaCharacter } from '../values/character.ts'
import { Collection, JavaArray, outOfBounds } from '../values/collections.ts'
import { isInt } from '../values/numbers.ts'
import { shownText } from '../values/text.ts'
import type { Environment, Value } from '../values/value.ts'
import {
  characterArgument,
  intArgument,
  sequenceArgument,
  textArgument,
  type Method,
  type Methods,
} from './arguments.ts'
import { formatted } from './format.ts'
import { matchesOf, Pattern, replacementOf } from './pattern.ts'

type TextMethod = Method<string>

const TEXTS = '[Ljava.lang.String;'

const bare =
  (compute: (self: string) => Value): TextMethod =>
  (self, args) =>
    args.length === 0 ? compute(self) : undefined

const withText =
  (compute: (self: string, text: string) => Value, take: typeof textArgument = textArgument): TextMethod =>
  (self, args, environment) => {
    if (args.length !== 1) return undefined
    const text = take(args[0], environment)
    return text === undefined ? undefined : compute(self, text)
  }

const substring: TextMethod = (self, args, environment) => {
  const begin = intArgument(args[0], environment)
  const end = args.length === 2 ? intArgument(args[1], environment) : self.length
  if (begin === undefined || end === undefined || args.length > 2) return undefined
  if (begin < 0 || end > self.length || begin > end) throw failed(`begin ${begin}, end ${end}, length ${self.length}`)
  return self.slice(begin, end)
}

const search =
  (find: (self: string, text: string, from: number | undefined) => number): TextMethod =>
  (self, args, environment) => {
    const [what, from] = args
    const isCode = isInt(what ?? null)
    const text = isCode
      ? String.fromCodePoint(Math.max(0, Number(what) % 0x110000))
      : (characterArgument(what) ?? textArgument(what, environment))
    const start = args.length === 2 ? intArgument(from, environment) : undefined
    if (text === undefined || args.length > 2 || (args.length === 2 && start === undefined)) return undefined
    return find(self, text, start)
  }

const replace: TextMethod = (self, args, { budget }) => {
  if (args.length !== 2) return undefined
  const [from, to] = args.map((arg) => characterArgument(arg) ?? sequenceArgument(arg))
  if (from === undefined || to === undefined) return undefined
  const parts = self.split(from)
  const grown = from === '' ? self.length + 1 : parts.length - 1
  budget.make(self.length + grown * to.length)
  return from === ''
    ? `${to}${self
        .split('')
        .map((char) => `${char}${to}`)
        .join('')}`
    : parts.join(to)
}

const replaceMatches =
  (isAll: boolean): TextMethod =>
  (self, args, environment) => {
    const { budget } = environment
    const source = textArgument(args[0], environment)
    const replacement = textArgument(args[1], environment)
    if (args.length !== 2 || source === undefined || replacement === undefined) return undefined
    const pattern = new Pattern(source)
    let made = ''
    let last = 0
    for (const match of matchesOf(pattern, self, budget)) {
      const [begin = 0, end = 0] = match
      made += self.slice(last, begin) + replacementOf(replacement, match, self, pattern.names)
      budget.make(made.length)
      last = end
      if (!isAll) break
    }
    return made + self.slice(last)
  }

const split: TextMethod = (self, args, environment) => {
  const source = textArgument(args[0], environment)
  const limit = args.length === 2 ? intArgument(args[1], environment) : 0
  if (source === undefined || limit === undefined || args.length > 2) return undefined
  const parts: string[] = []
  let last = 0
  for (const [begin = 0, end = 0] of matchesOf(new Pattern(source), self, environment.budget)) {
    if (limit > 0 && parts.length === limit - 1) break
    // an empty match at the beginning does not split
    if (end === 0 || (begin === end && begin >= self.length)) continue
    parts.push(self.slice(last, begin))
    last = end
  }
  if (last === 0 && parts.length === 0) return new JavaArray([self], TEXTS)
  parts.push(self.slice(last))
  if (limit === 0) while (parts.length > 0 && parts.at(-1) === '') parts.pop()
  return new JavaArray(parts, TEXTS)
}

const charAt: TextMethod = (self, args, environment) => {
  const index = args.length === 1 ? intArgument(args[0], environment) : undefined
  if (index === undefined) return undefined
  if (index < 0 || index >= self.length) throw outOfBounds(index, self.length)
  return new JavaCharacter(self.charAt(index))
}

const compare = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a.charCodeAt(i) - b.charCodeAt(i)
  return a.length - b.length
}

const folded = (text: string): string => text.toUpperCase().toLowerCase()

const repeat: TextMethod = (self, args, environment) => {
  const count = args.length === 1 ? intArgument(args[0], environment) : undefined
  if (count === undefined) return undefined
  if (count < 0) throw failed(`count is negative: ${count}`)
  environment.budget.make(self.length * count)
  return self.repeat(count)
}

const regionMatches: TextMethod = (self, args, environment) => {
  const isFolding = args.length === 5
  const [begin, other, otherBegin, length] = isFolding ? args.slice(1) : args
  const numbers = [begin, otherBegin, length].map((value) => intArgument(value, environment))
  const [from = -1, to = -1, size = 0] = numbers
  if (args.length < 4 || args.length > 5 || typeof other !== 'string' || numbers.includes(undefined)) return undefined
  if (from < 0 || to < 0 || from + size > self.length || to + size > other.length) return false
  const [a, b] = [self.slice(from, from + size), other.slice(to, to + size)]
  return isFolding && args[0] === true ? folded(a) === folded(b) : a === b
}

const join: TextMethod = (_self, [between, ...parts], environment) => {
  const glue = sequenceArgument(between)
  if (glue === undefined) return undefined
  const [first] = parts
  const items = parts.length === 1 && first instanceof Collection ? first.items(environment) : parts
  let joined = ''
  for (const [i, item] of items.entries()) {
    joined += (i === 0 ? '' : glue) + shownText(item, environment)
    if ((i & 63) === 0) environment.budget.make(joined.length)
  }
  environment.budget.make(joined.length)
  return joined
}

function bytesOf(self: string, { budget }: Environment): Value {
  budget.make(self.length * 4)
  return new JavaArray([...new Int8Array(new TextEncoder().encode(self))], '[B')
}

export const TEXT_METHODS: Methods<string> = new Map<string, TextMethod>([
  ['length', bare((self) => self.length)],
  ['isEmpty', bare((self) => self === '')],
  ['isBlank', bare((self) => self.trim() === '')],
  ['toUpperCase', bare((self) => self.toUpperCase())],
  ['toLowerCase', bare((self) => self.toLowerCase())],
  // Java trims spaces and control characters
  ['trim', bare((self) => self.slice(firstAbove(self), lastAbove(self)))],
  ['strip', bare((self) => self.trim())],
  ['stripLeading', bare((self) => self.trimStart())],
  ['stripTrailing', bare((self) => self.trimEnd())],
  ['intern', bare((self) => self)],
  [
    'toCharArray',
    bare(
      (self) =>
        new JavaArray(
          Array.from(self.split(''), (char) => new JavaCharacter(char)),
          '[C',
        ),
    ),
  ],
  ['getBytes', (self, args, environment) => (args.length === 0 ? bytesOf(self, environment) : undefined)],
  ['substring', substring],
  ['subSequence', (self, args, environment) => (args.length === 2 ? substring(self, args, environment) : undefined)],
  ['charAt', charAt],
  [
    'codePointAt',
    (self, args, environment) => {
      const index = args.length === 1 ? intArgument(args[0], environment) : undefined
      if (index === undefined) return undefined
      if (index < 0 || index >= self.length) throw outOfBounds(index, self.length)
      return self.codePointAt(index)
    },
  ],
  ['indexOf', search((self, text, from) => self.indexOf(text, from))],
  ['lastIndexOf', search((self, text, from) => (from !== undefined && from < 0 ? -1 : self.lastIndexOf(text, from)))],
  ['contains', withText((self, text) => self.includes(text), sequenceArgument)],
  ['contentEquals', withText((self, text) => self === text, sequenceArgument)],
  [
    'startsWith',
    (self, args, environment) => {
      const text = textArgument(args[0], environment)
      const at = args.length === 2 ? intArgument(args[1], environment) : 0
      if (text === undefined || at === undefined || args.length > 2) return undefined
      return at >= 0 && self.startsWith(text, at)
    },
  ],
  ['endsWith', withText((self, text) => self.endsWith(text))],
  ['equals', (self, args) => (args.length === 1 ? self === args[0] : undefined)],
  [
    'equalsIgnoreCase',
    (self, args, environment) => {
      if (args.length !== 1) return undefined
      const text = args[0] === null ? null : textArgument(args[0], environment)
      return text === undefined ? undefined : text !== null && folded(text) === folded(self)
    },
  ],
  ['compareTo', withText(compare)],
  ['compareToIgnoreCase', withText((self, text) => compare(folded(self), folded(text)))],
  [
    'concat',
    (self, args, environment) => {
      const text = args.length === 1 ? textArgument(args[0], environment) : undefined
      if (text === undefined) return undefined
      environment.budget.make(self.length + text.length)
      return self + text
    },
  ],
  ['replace', replace],
  ['replaceAll', replaceMatches(true)],
  ['replaceFirst', replaceMatches(false)],
  [
    'matches',
    (self, args, environment) => {
      const source = args.length === 1 ? textArgument(args[0], environment) : undefined
      return source === undefined
        ? undefined
        : new Pattern(source).find(self, 0, environment.budget, true) !== undefined
    },
  ],
  ['split', split],
  ['repeat', repeat],
  ['regionMatches', regionMatches],
  // a static method, reachable from any text
  ['valueOf', (_self, args, environment) => (args.length === 1 ? shownText(args[0] ?? null, environment) : undefined)],
  [
    'format',
    (_self, [pattern, ...args], environment) => {
      const text = textArgument(pattern, environment)
      return text === undefined ? undefined : formatted(text, args, environment)
    },
  ],
  ['join', join],
])

function firstAbove(text: string): number {
  let i = 0
  while (i < text.length && text.charCodeAt(i) <= 32) i++
  return i
}

function lastAbove(text: string): number {
  let i = text.length
  while (i > 0 && text.charCodeAt(i - 1) <= 32) i--
  return Math.max(i, firstAbove(text))
}

export const CHARACTER_METHODS: Methods<JavaCharacter> = new Map<string, Method<JavaCharacter>>([
  ['charValue', (self, args) => (args.length === 0 ? self : undefined)],
  [
    'compareTo',
    ({ text }, [other]) => (other instanceof JavaCharacter ? text.charCodeAt(0) - other.text.charCodeAt(0) : undefined),
  ],
  ['getNumericValue', (_self, [of]) => (of instanceof JavaCharacter ? numericOf(of.text) : undefined)],
  ['isDigit', (_self, [of]) => (of instanceof JavaCharacter ? /\d/.test(of.text) : undefined)],
  ['isLetter', (_self, [of]) => (of instanceof JavaCharacter ? /\p{L}/u.test(of.text) : undefined)],
])

function numericOf(text: string): number {
  const value = Number.parseInt(text, 36)
  return Number.isNaN(value) ? -1 : value
}
