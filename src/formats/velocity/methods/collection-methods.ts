/** Implements methods of lists, arrays, maps, their views and entries, and iterators. */
import { failed } from '../fault.ts'
import { Collection, JavaArray, JavaIterator, JavaList, JavaRange, outOfBounds } from '../values/collections.ts'
import { areEqual } from '../values/identity.ts'
import { type JavaEntry, JavaMap, MapView } from '../values/map.ts'
import { isInt } from '../values/numbers.ts'
import type { Environment, Value } from '../values/value.ts'
import { intArgument, VOID, type Method, type Methods } from './arguments.ts'

const OBJECTS = '[Ljava.lang.Object;'

function indexOf(items: readonly Value[], wanted: Value, environment: Environment): number {
  environment.budget.spend(items.length >> 2)
  return items.findIndex((item) => areEqual(wanted, item, environment))
}

function itemsOf(value: Value | undefined, environment: Environment): readonly Value[] | undefined {
  if (value === null) throw failed('NullPointerException')
  return value instanceof Collection && !(value instanceof JavaArray) ? value.items(environment) : undefined
}

const COLLECTION: Methods<Collection> = new Map<string, Method<Collection>>([
  ['size', (self, args) => (args.length === 0 ? self.size : undefined)],
  ['isEmpty', (self, args) => (args.length === 0 ? self.size === 0 : undefined)],
  [
    'contains',
    (self, args, environment) =>
      args.length === 1 ? indexOf(self.items(environment), args[0] ?? null, environment) >= 0 : undefined,
  ],
  [
    'containsAll',
    (self, args, environment) => {
      const wanted = args.length === 1 ? itemsOf(args[0], environment) : undefined
      if (wanted === undefined) return undefined
      const items = self.items(environment)
      return wanted.every((one) => indexOf(items, one, environment) >= 0)
    },
  ],
  [
    'iterator',
    (self, args, environment) => (args.length === 0 ? new JavaIterator([...self.items(environment)]) : undefined),
  ],
  [
    'toArray',
    (self, args, environment) => (args.length === 0 ? new JavaArray([...self.items(environment)], OBJECTS) : undefined),
  ],
])

function changing(self: JavaList, environment: Environment): Value[] {
  if (self instanceof JavaRange && environment.compat === '2.4') throw failed('UnsupportedOperationException')
  return self.change(environment)
}

const add: Method<JavaList> = (self, args, environment) => {
  if (args.length === 1) {
    changing(self, environment).push(args[0] ?? null)
    return true
  }
  const index = args.length === 2 ? intArgument(args[0], environment) : undefined
  if (index === undefined) return undefined
  const items = changing(self, environment)
  if (index < 0 || index > items.length) throw outOfBounds(index, items.length)
  items.splice(index, 0, args[1] ?? null)
  return VOID
}

const addAll: Method<JavaList> = (self, args, environment) => {
  const added = itemsOf(args.at(-1), environment)
  const index = args.length === 2 ? intArgument(args[0], environment) : self.size
  if (added === undefined || index === undefined || args.length > 2) return undefined
  const items = changing(self, environment)
  if (index < 0 || index > items.length) throw outOfBounds(index, items.length)
  environment.budget.spend(added.length)
  const behind = items.splice(index)
  for (const part of [[...added], behind]) for (const item of part) items.push(item)
  return added.length > 0
}

const set: Method<JavaList> = (self, args, environment) => {
  const index = args.length === 2 ? intArgument(args[0], environment) : undefined
  if (index === undefined) return undefined
  const items = changing(self, environment)
  if (index < 0 || index >= items.length) throw outOfBounds(index, items.length)
  const before = items[index] ?? null
  items[index] = args[1] ?? null
  return before
}

const get: Method<JavaList> = (self, args, environment) => {
  const index = args.length === 1 ? intArgument(args[0], environment) : undefined
  return index === undefined ? undefined : self.at(index, environment)
}

const remove: Method<JavaList> = (self, args, environment) => {
  const [what = null] = args
  if (args.length !== 1) return undefined
  const items = changing(self, environment)
  if (isInt(what)) {
    if (what < 0 || what >= items.length) throw outOfBounds(what, items.length)
    return items.splice(what, 1)[0] ?? null
  }
  const index = indexOf(items, what, environment)
  if (index >= 0) items.splice(index, 1)
  return index >= 0
}

const keeping =
  (isKept: boolean): Method<JavaList> =>
  (self, args, environment) => {
    const others = args.length === 1 ? itemsOf(args[0], environment) : undefined
    if (others === undefined) return undefined
    const items = changing(self, environment)
    const before = items.length
    const kept = items.filter((item) => indexOf(others, item, environment) >= 0 === isKept)
    items.length = 0
    for (const item of kept) items.push(item)
    return kept.length < before
  }

const ARRAY: Methods<JavaList> = new Map<string, Method<JavaList>>([
  ['get', get],
  ['set', set],
])

const LIST: Methods<JavaList> = new Map<string, Method<JavaList>>([
  ['get', get],
  ['set', set],
  ['add', add],
  ['addAll', addAll],
  ['remove', remove],
  ['removeAll', keeping(false)],
  ['retainAll', keeping(true)],
  [
    'clear',
    (self, args, environment) => {
      if (args.length > 0) return undefined
      changing(self, environment).length = 0
      return VOID
    },
  ],
  [
    'indexOf',
    (self, args, environment) =>
      args.length === 1 ? indexOf(self.items(environment), args[0] ?? null, environment) : undefined,
  ],
  [
    'lastIndexOf',
    (self, args, environment) => {
      const items = self.items(environment)
      return args.length === 1 ? items.findLastIndex((item) => areEqual(args[0] ?? null, item, environment)) : undefined
    },
  ],
  [
    'subList',
    (self, args, environment) => {
      const [from, to] = args.map((arg) => intArgument(arg, environment))
      if (args.length !== 2 || from === undefined || to === undefined) return undefined
      if (from < 0 || to > self.size || from > to) throw outOfBounds(from < 0 ? from : to, self.size)
      return new JavaList(self.items(environment).slice(from, to))
    },
  ],
])

const bare =
  (compute: (self: JavaMap) => Value): Method<JavaMap> =>
  (self, args) =>
    args.length === 0 ? compute(self) : undefined

const withKey =
  (compute: (self: JavaMap, key: Value) => Value): Method<JavaMap> =>
  (self, args) =>
    args.length === 1 ? compute(self, args[0] ?? null) : undefined

const withPair =
  (compute: (self: JavaMap, key: Value, value: Value) => Value): Method<JavaMap> =>
  (self, args) =>
    args.length === 2 ? compute(self, args[0] ?? null, args[1] ?? null) : undefined

export const MAP_METHODS: Methods<JavaMap> = new Map<string, Method<JavaMap>>([
  ['get', withKey((self, key) => self.get(key))],
  ['containsKey', withKey((self, key) => self.has(key))],
  ['remove', withKey((self, key) => self.remove(key))],
  ['put', withPair((self, key, value) => self.put(key, value))],
  ['getOrDefault', withPair((self, key, value) => (self.has(key) ? self.get(key) : value))],
  ['putIfAbsent', withPair((self, key, value) => (self.get(key) === null ? self.put(key, value) : self.get(key)))],
  ['replace', withPair((self, key, value) => (self.has(key) ? self.put(key, value) : null))],
  ['size', bare((self) => self.size)],
  ['isEmpty', bare((self) => self.size === 0)],
  ['keySet', bare((self) => new MapView(self, 'key'))],
  ['values', bare((self) => new MapView(self, 'value'))],
  ['entrySet', bare((self) => new MapView(self, 'entry'))],
  [
    'clear',
    bare((self) => {
      self.clear()
      return VOID
    }),
  ],
  [
    'containsValue',
    (self, args, environment) => {
      if (args.length !== 1) return undefined
      return self.entries(environment).some(({ value }) => areEqual(args[0] ?? null, value, environment))
    },
  ],
  [
    'putAll',
    (self, [other], environment) => {
      if (!(other instanceof JavaMap)) return undefined
      for (const { key, value } of other.entries(environment)) self.put(key, value)
      environment.budget.spend(other.size)
      return VOID
    },
  ],
])

export const ENTRY_METHODS: Methods<JavaEntry> = new Map<string, Method<JavaEntry>>([
  ['getKey', (self, args) => (args.length === 0 ? self.key : undefined)],
  ['getValue', (self, args) => (args.length === 0 ? self.value : undefined)],
  [
    'setValue',
    (self, args) => {
      if (args.length !== 1) return undefined
      const before = self.value
      self.value = args[0] ?? null
      return before
    },
  ],
])

export const ITERATOR_METHODS: Methods<JavaIterator> = new Map<string, Method<JavaIterator>>([
  ['hasNext', (self, args) => (args.length === 0 ? self.hasNext : undefined)],
  ['next', (self, args) => (args.length === 0 ? self.next() : undefined)],
])

export function callCollection(
  self: Collection,
  name: string,
  args: readonly Value[],
  environment: Environment,
): Value | undefined {
  const common = COLLECTION.get(name)
  if (common !== undefined) return common(self, args, environment)
  if (self instanceof JavaArray) return ARRAY.get(name)?.(self, args, environment)
  if (self instanceof JavaList) return LIST.get(name)?.(self, args, environment)
  if (!(self instanceof MapView) || name !== 'remove' || args.length !== 1) return undefined
  const { map, part } = self
  const found = map
    .entries(environment)
    .find((entry) => areEqual(args[0] ?? null, part === 'entry' ? entry : entry[part], environment))
  if (found !== undefined) map.remove(found.key)
  return found !== undefined
}
