/** Implements the methods of lists in expressions. */
import { callbackArg, made, numberArg, textArg, type Call, type Method } from './method.ts'
import { spend, unfit, type Callback, type Run } from './run.ts'
import { measure, numberOf, indexIn, sameValue, textOf, truthOf } from './values.ts'

type List = readonly unknown[]

const END = Number.POSITIVE_INFINITY
const MAX_FLAT_DEPTH = 8

/** Methods of lists. None of them changes its list: sort and reverse copy, since data belongs to its sender. */
export const LIST_METHODS: ReadonlyMap<string, Method<List>> = new Map<string, Method<List>>([
  ['at', (self, call) => self.at(numberArg(call, 0, 0))],
  ['concat', (self, call) => made(call.run, self.concat(...call.args.map((arg) => paid(call, arg))))],
  ['every', (self, call) => self.every(decides(self, call))],
  ['filter', (self, call) => self.filter(decides(self, call))],
  ['find', (self, call) => self.find(decides(self, call))],
  ['findIndex', (self, call) => self.findIndex(decides(self, call))],
  ['findLast', (self, call) => self.findLast(decides(self, call))],
  ['findLastIndex', (self, call) => self.findLastIndex(decides(self, call))],
  ['flat', (self, call) => flat(self, numberArg(call, 0, 1), call)],
  ['flatMap', (self, call) => flat(self.map(each(self, call)), 1, call)],
  ['includes', (self, call) => indexIn(call.run, self, paid(call, call.args[0])) !== -1],
  ['indexOf', position],
  ['join', join],
  ['lastIndexOf', (self, call) => last(self, call)],
  ['map', (self, call) => self.map(each(self, call))],
  ['reduce', (self, call) => reduce(self, call)],
  ['reduceRight', (self, call) => reduce([...made(call.run, self)].reverse(), call)],
  ['reverse', (self, call) => made(call.run, self).toReversed()],
  ['slice', (self, call) => made(call.run, self.slice(numberArg(call, 0, 0), numberArg(call, 1, END)))],
  ['some', (self, call) => self.some(decides(self, call))],
  ['sort', sort],
  ['toReversed', (self, call) => made(call.run, self).toReversed()],
  ['toSorted', sort],
  ['toString', (self, call) => textOf(call.run, self, call.label)],
])

export const TAKES_CALLBACK: ReadonlySet<string> = new Set(
  'every filter find findIndex findLast findLastIndex flatMap map reduce reduceRight some sort toSorted'.split(' '),
)

export function itemsOf(run: Run, value: unknown, label: string): List {
  if (Array.isArray(value)) return made(run, value as List)
  throw unfit(label, 'is not a list')
}

function each(self: List, call: Call): (item: unknown, index: number) => unknown {
  const callback: Callback = callbackArg(call, 0)
  // charges for native work, even for a list full of holes
  spend(call.run, 1 + self.length / 16)
  return (item, index) => callback(item, index, self)
}

function decides(self: List, call: Call): (item: unknown, index: number) => boolean {
  const callback = each(self, call)
  return (item, index) => truthOf(callback(item, index), call.label)
}

function paid(call: Call, arg: unknown): unknown {
  if (typeof arg === 'function') throw unfit(call.label, 'does not accept an arrow function there')
  if (Array.isArray(arg)) spend(call.run, arg.length)
  return arg
}

function position(self: List, call: Call): number {
  const wanted = paid(call, call.args[0])
  spend(call.run, 1 + self.length / 4)
  return self.findIndex((item) => sameValue(call.run, item, wanted))
}

function last(self: List, call: Call): number {
  const wanted = paid(call, call.args[0])
  spend(call.run, 1 + self.length / 4)
  return self.findLastIndex((item) => sameValue(call.run, item, wanted))
}

function join(self: List, call: Call): string {
  const separator = call.args.length === 0 ? ',' : textArg(call, 0)
  spend(call.run, self.length * (1 + separator.length))
  const texts = self.map((item) => (item === null || item === undefined ? '' : textOf(call.run, item, call.label)))
  spend(
    call.run,
    texts.reduce((sum, text) => sum + text.length, 0),
  )
  return texts.join(separator)
}

function flat(self: List, depth: number, call: Call): List {
  if (!(depth >= 0)) throw unfit(call.label, 'flattens 0 levels or more')
  const result: unknown[] = []
  const add = (list: List, levels: number): void => {
    for (const item of list) {
      spend(call.run, 1)
      if (levels > 0 && Array.isArray(item)) add(item as List, levels - 1)
      else result.push(item)
    }
  }
  add(self, Math.min(depth, MAX_FLAT_DEPTH))
  return result
}

function reduce(self: List, call: Call): unknown {
  const callback = callbackArg(call, 0)
  if (self.length === 0 && call.args.length < 2) {
    throw unfit(call.label, 'has an empty list and no first value; give one, such as reduce((sum, x) => sum + x, 0)')
  }
  let result = call.args.length > 1 ? call.args[1] : self[0]
  for (let i = call.args.length > 1 ? 0 : 1; i < self.length; i++) result = callback(result, self[i], i, self)
  return result
}

function sort(self: List, call: Call): List {
  spend(call.run, self.length)
  if (call.args.length > 0) {
    const callback = callbackArg(call, 0)
    return self.toSorted((a, b) => numberOf(callback(a, b), call.label))
  }
  measure(call.run, self)
  const keyed = self.map((item) => ({ item, key: item === undefined ? '' : textOf(call.run, item, call.label) }))
  spend(call.run, self.length * Math.log2(self.length + 1))
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ item }) => item)
}
