/** Implements the methods of texts in expressions; searches are for plain text. */
import { made, numberArg, paySearch, textArg, type Call, type Method } from './method.ts'
import { spend, unfit } from './run.ts'

const END = Number.POSITIVE_INFINITY

export const TEXT_METHODS: ReadonlyMap<string, Method<string>> = new Map<string, Method<string>>([
  ['at', (self, call) => self.at(numberArg(call, 0, 0))],
  ['charAt', (self, call) => self.charAt(numberArg(call, 0, 0))],
  ['charCodeAt', (self, call) => self.charCodeAt(numberArg(call, 0, 0))],
  ['codePointAt', (self, call) => self.codePointAt(numberArg(call, 0, 0))],
  ['concat', (self, call) => made(call.run, self + call.args.map((_, index) => textArg(call, index)).join(''))],
  ['endsWith', (self, call) => search(self, call, (wanted) => self.endsWith(wanted))],
  ['includes', (self, call) => search(self, call, (wanted) => self.includes(wanted, numberArg(call, 1, 0)))],
  ['indexOf', (self, call) => search(self, call, (wanted) => self.indexOf(wanted, numberArg(call, 1, 0)))],
  ['lastIndexOf', (self, call) => search(self, call, (wanted) => self.lastIndexOf(wanted, numberArg(call, 1, END)))],
  ['padEnd', (self, call) => self.padEnd(padding(self, call), filler(call))],
  ['padStart', (self, call) => self.padStart(padding(self, call), filler(call))],
  ['repeat', repeat],
  ['replace', replace],
  ['replaceAll', replaceAll],
  ['slice', (self, call) => made(call.run, self.slice(numberArg(call, 0, 0), numberArg(call, 1, END)))],
  ['split', split],
  ['startsWith', (self, call) => search(self, call, (wanted) => self.startsWith(wanted, numberArg(call, 1, 0)))],
  ['substring', (self, call) => made(call.run, self.substring(numberArg(call, 0, 0), numberArg(call, 1, END)))],
  ['toLowerCase', (self, call) => made(call.run, self.toLowerCase())],
  ['toString', (self) => self],
  ['toUpperCase', (self, call) => made(call.run, self.toUpperCase())],
  ['trim', (self, call) => made(call.run, self.trim())],
  ['trimEnd', (self, call) => made(call.run, self.trimEnd())],
  ['trimStart', (self, call) => made(call.run, self.trimStart())],
])

function search<T>(self: string, call: Call, find: (wanted: string) => T): T {
  const wanted = textArg(call, 0)
  paySearch(call.run, self, wanted)
  return find(wanted)
}

function padding(self: string, call: Call): number {
  const length = numberArg(call, 0, 0)
  spend(call.run, Math.max(self.length, length) || 0)
  return length
}

function filler(call: Call): string {
  return call.args.length > 1 ? textArg(call, 1) : ' '
}

function repeat(self: string, call: Call): string {
  const count = numberArg(call, 0, 0)
  if (!(count >= 0)) throw unfit(call.label, 'repeats a text 0 times or more')
  // charges for an empty text, too: each copy counts
  spend(call.run, Math.max(self.length, 1 / 64) * count)
  return self.repeat(count)
}

function replace(self: string, call: Call): string {
  const [wanted, instead] = [textArg(call, 0), textArg(call, 1)]
  paySearch(call.run, self, wanted)
  // a function, so that $ in the new text has no special meaning
  return made(
    call.run,
    self.replace(wanted, () => instead),
  )
}

function replaceAll(self: string, call: Call): string {
  const [wanted, instead] = [textArg(call, 0), textArg(call, 1)]
  const parts = split(self, { ...call, args: [wanted] })
  spend(call.run, Math.max(0, parts.length - 1) * instead.length + self.length)
  return wanted === '' ? self.replaceAll('', () => instead) : parts.join(instead)
}

function split(self: string, call: Call): readonly string[] {
  if (call.args.length === 0) return [self]
  const separator = textArg(call, 0)
  paySearch(call.run, self, separator)
  spend(call.run, self.length)
  return self.split(separator, Math.min(numberArg(call, 1, 2 ** 32 - 1), 2 ** 32 - 1))
}
