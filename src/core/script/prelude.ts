/**
 * What runs inside of the fence before a script: everything that belongs to the machine or its clock is taken away or
 * replaced, and what the machine does in one step although it is long is counted. The counter of the interpreter sees
 * only loops and calls, so that a search in a long text would cost it nothing.
 */

/** Units that built-in functions of one run may spend: characters, items and steps of searches. */
const WORK = 20_000_000
/** JSON that nests deeper is refused: the parser inside of the fence would overflow its stack. */
const DEPTH = 200

/** JavaScript for the fence; its value is a function of (run, input) that gives the JSON of an envelope. */
export const PRELUDE = `(() => {
'use strict'
const { apply, ownKeys, construct } = Reflect
const { parse, stringify } = JSON
const { defineProperty, getOwnPropertyDescriptor } = Object
const isArray = Array.isArray
const { slice } = String.prototype
const mapSize = getOwnPropertyDescriptor(Map.prototype, 'size').get
const setSize = getOwnPropertyDescriptor(Set.prototype, 'size').get
const isMap = (value) => value instanceof Map
const isSet = (value) => value instanceof Set
const push = (list, item) => defineProperty(list, list.length, { value: item, enumerable: true, writable: true, configurable: true })
let left = ${WORK}
const spend = (amount) => {
  left -= amount
  if (!(left >= 0)) throw new RangeError('the script does too much work')
}
const size = (value) => {
  if (typeof value === 'string') return value.length
  if (typeof value === 'number') return 1
  if (isArray(value)) return value.length
  try { return isMap(value) ? apply(mapSize, value, []) : isSet(value) ? apply(setSize, value, []) : 1 }
  catch { return 1 }
}
const checkThis = (owner, self) => {
  if (owner === Array.prototype && !isArray(self)) throw new TypeError('this is not a list')
}
const SEARCH = { __proto__: null, indexOf: 1, includes: 1, lastIndexOf: 1, split: 1, replace: 1, replaceAll: 1, startsWith: 1, endsWith: 1 }
const QUICK = { __proto__: null,
  push: 1, pop: 1, at: 1, charAt: 1, charCodeAt: 1, codePointAt: 1, get: 1, set: 1, has: 1, add: 1, delete: 1, slice: 1,
  substring: 1, concat: 1, call: 1, apply: 1, bind: 1, test: 1, exec: 1,
}
const LONG = { __proto__: null, repeat: 1, padStart: 1, padEnd: 1 }
const metered = (owner, name, original) => {
  const search = owner === String.prototype && SEARCH[name] === 1
  const long = owner === String.prototype && LONG[name] === 1
  const wrapper = { [name](...args) {
    checkThis(owner, this)
    const own = size(this)
    let cost = 1 + (QUICK[name] === 1 ? 0 : own)
    for (let i = 0; i < args.length; i++) {
      cost += size(args[i])
      if (search && typeof args[i] === 'string') cost += own * args[i].length / 4
    }
    if (long) cost += own * (+args[0] || 0)
    spend(cost)
    const result = new.target ? construct(original, args, new.target) : apply(original, this, args)
    spend(size(result))
    return result
  } }[name]
  return wrapper
}
const meter = (owner) => {
  for (const key of ownKeys(owner)) {
    const known = getOwnPropertyDescriptor(owner, key)
    if (key === 'constructor' || !known || !known.configurable || typeof known.value !== 'function') continue
    if (typeof known.value.prototype === 'object') continue
    defineProperty(owner, key, { ...known, value: metered(owner, key, known.value) })
  }
}
const depthOf = (text) => {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (c === '"') { for (i++; i < text.length && text[i] !== '"'; i++) if (text[i] === '\\\\') i++ }
    else if (c === '[' || c === '{') { if (++depth > ${DEPTH}) return depth }
    else if (c === ']' || c === '}') depth--
  }
  return depth
}
JSON.parse = (text, ...rest) => {
  const source = '' + text
  if (depthOf(source) > ${DEPTH}) throw new RangeError('the JSON nests too deep')
  spend(source.length)
  return parse(source, ...rest)
}
const deep = (value, depth) => {
  if (typeof value !== 'object' || value === null) return
  if (depth > ${DEPTH}) throw new RangeError('the value nests too deep')
  const keys = ownKeys(value)
  spend(1 + keys.length)
  for (let i = 0; i < keys.length; i++) {
    const known = getOwnPropertyDescriptor(value, keys[i])
    if (known && 'value' in known) deep(known.value, depth + 1)
  }
}
const toJson = (value, ...rest) => {
  deep(value, 0)
  const text = stringify(value, ...rest)
  if (text !== undefined) spend(text.length)
  return text
}
JSON.stringify = toJson
const keysOf = Object.keys
const same = (value) => value
for (const name of ['freeze', 'seal', 'preventExtensions']) Object[name] = same
for (const name of ['isFrozen', 'isSealed', 'isExtensible']) Object[name] = () => false
for (const name of ['getOwnPropertyDescriptors', 'defineProperties']) delete Object[name]
Object.assign = (target, ...sources) => {
  for (let i = 0; i < sources.length; i++) {
    if (sources[i] === null || sources[i] === undefined) continue
    const keys = keysOf(sources[i])
    spend(1 + keys.length)
    for (let k = 0; k < keys.length; k++) target[keys[k]] = sources[i][keys[k]]
  }
  return target
}
for (const owner of [
  Array.prototype, String.prototype, Map.prototype, Set.prototype, RegExp.prototype, Function.prototype,
  Object, Reflect, Array, String,
]) meter(owner)
const flat = Array.prototype.flat
Array.prototype.flat = function (depth) { deep(this, 0); return apply(flat, this, [depth]) }
const join = Array.prototype.join
Array.prototype.join = function (...args) { deep(this, 0); return apply(join, this, args) }
Array.prototype.toString = function () { return this.join() }
Array.prototype.toLocaleString = Array.prototype.toString

const Machine = Date
let clock = 0
const Clock = function Date(...args) {
  const date = args.length === 0 ? construct(Machine, [clock], new.target || Clock) : construct(Machine, args, new.target || Clock)
  return new.target ? date : date.toISOString()
}
for (const name of ['parse', 'UTC']) defineProperty(Clock, name, { value: Machine[name] })
defineProperty(Clock, 'now', { value: () => clock })
Clock.prototype = Machine.prototype
defineProperty(Machine.prototype, 'constructor', { value: Clock })
for (const part of ['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes', 'Seconds', 'Milliseconds']) {
  for (const verb of ['get', 'set']) {
    const utc = Machine.prototype[verb + 'UTC' + part]
    if (utc) Machine.prototype[verb + part] = utc
  }
}
for (const name of ['toString', 'toLocaleString', 'toDateString', 'toTimeString', 'toLocaleDateString', 'toLocaleTimeString']) {
  Machine.prototype[name] = Machine.prototype.toISOString
}
Machine.prototype.getTimezoneOffset = () => 0
globalThis.Date = Clock

let seed = 1
Math.random = () => {
  seed = (seed + 0x6d2b79f5) >>> 0
  let t = Math.imul(seed ^ (seed >>> 15), seed | 1)
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}

const log = []
const text = (value) => {
  try {
    const shown = typeof value === 'string' ? value : toJson(value)
    return apply(slice, shown === undefined ? '' + value : shown, [0, 1000])
  } catch { return 'unprintable' }
}
const write = (level) => (...args) => {
  if (log.length >= 100) return
  let line = ''
  for (let i = 0; i < args.length && line.length < 1000; i++) line += (i > 0 ? ' ' : '') + text(args[i])
  push(log, { level, message: line })
}
globalThis.console = { log: write('INFO'), info: write('INFO'), debug: write('DEBUG'), warn: write('WARN'), error: write('ERROR') }
delete globalThis.eval
delete globalThis.Function
delete globalThis.queueMicrotask
delete globalThis.BigInt
for (const sample of [function () {}, async function () {}, function* () {}, async function* () {}]) {
  defineProperty(Object.getPrototypeOf(sample), 'constructor', { value: undefined })
}

const messageOf = (error) => {
  try { return text(error !== null && typeof error === 'object' && 'message' in error ? '' + error.message : '' + error) }
  catch { return 'unprintable error' }
}
const envelope = { done: false, ok: false, value: undefined, error: 'the script never answers' }
const succeed = (value) => {
  if (envelope.done) return
  envelope.done = true
  try {
    const json = toJson(value === undefined ? null : value)
    envelope.ok = true
    envelope.value = json === undefined ? 'null' : json
  } catch (error) { envelope.error = messageOf(error) }
}
const fail = (error) => {
  if (envelope.done) return
  envelope.done = true
  envelope.error = messageOf(error)
}
const start = (script, input) => {
  try {
    const options = parse(input)
    clock = options.now
    seed = options.seed
    delete options.seed
    globalThis.options = options
    const send = (error, value) => (error === null || error === undefined ? succeed(value) : fail(error))
    const result = script(options, send)
    if (result !== null && typeof result === 'object' && typeof result.then === 'function') result.then(succeed, fail)
    else if (result !== undefined) succeed(result)
  } catch (error) { fail(error) }
}
const finish = () => stringify([envelope.ok, envelope.ok ? envelope.value : envelope.error, log])
return [start, finish]
})()`
