/**
 * Contains the code that runs in the sandbox before a script: it removes access to the host, and counts long native
 * work, which the interpreter does not. A script that catches the error for too much work reaches `step`, which waits
 * until the interpreter ends the run; scripts cannot catch that.
 */

/** Maximum units of work of one run: characters, items, steps of searches, and a flat rate for each error. */
const WORK = 20_000_000
/** Cost of an error, for which the interpreter writes the whole stack. */
const ERROR_COST = 5000
/** Maximum number of characters of a joined text, which would exhaust the memory once it is read. */
const MAX_TEXT = 2_000_000
/** Maximum number of lines that one run may log, and of characters in each line. */
const MAX_LINES = 100
const MAX_LINE = 1000
/** Maximum number of characters of JSON that a script may remember, since it must fit into the next input. */
const MAX_MEMORY = 100_000
/** Maximum depth of nested JSON, beyond which the parser inside the sandbox would overflow its stack. */
const DEPTH = 200

/** JavaScript for the sandbox. Its value is a function of (run, input) that returns an envelope as JSON. */
export const PRELUDE = `(() => {
'use strict'
const { apply, ownKeys, construct } = Reflect
const { parse, stringify } = JSON
const { RangeError, TypeError } = globalThis
const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Object
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
const lengthIn = (length) => (typeof length === 'string' ? length.length : typeof length === 'number' && length > 0 ? length : 0)
const size = (value) => {
  if (typeof value === 'string') return value.length
  if (value === null || typeof value !== 'object') return 1
  if (isArray(value)) return value.length
  try {
    if (isMap(value)) return apply(mapSize, value, [])
    if (isSet(value)) return apply(setSize, value, [])
  } catch { return 1 }
  return 1 + lengthIn(value.length) + lengthIn(value.lastIndex)
}
const texts = (list) => {
  let sum = 0
  for (let i = 0; i < list.length; i++) {
    const item = list[i]
    if (typeof item === 'string') sum += item.length / 4
  }
  return sum
}
const use = (value) => {
  if (typeof value === 'string' && value.length > 64) spend(value.length / 4)
  return value
}
const step = () => { if (left < 0) for (;;) {} }
const give = (value) => {
  step()
  return use(value)
}
const made = (value) => {
  if (typeof value === 'string' && value.length > 4096) {
    if (value.length > ${MAX_TEXT}) throw new RangeError('invalid string length')
    spend(100)
  }
  return value
}
const cell = (owner, given) => {
  const key = typeof given === 'object' || typeof given === 'function' ? use('' + given) : given
  return { get v() { return use(owner[key]) }, set v(value) { owner[key] = use(value) } }
}
const keys = (value) => {
  if (typeof value === 'string') spend(value.length)
  for (let at = value; at !== null && typeof at === 'object'; at = getPrototypeOf(at)) spend(4 * ownKeys(at).length)
  return value
}
const fault = () => spend(${ERROR_COST})
const last = (_, value) => value
const checkThis = (owner, self) => {
  if (owner === Array.prototype && !isArray(self)) throw new TypeError('this is not a list')
}
const SEARCH = { __proto__: null, indexOf: 1, includes: 1, lastIndexOf: 1, split: 1, replace: 1, replaceAll: 1, startsWith: 1, endsWith: 1 }
const QUICK = { __proto__: null,
  push: 1, pop: 1, at: 1, charAt: 1, charCodeAt: 1, codePointAt: 1, get: 1, set: 1, has: 1, add: 1, delete: 1, slice: 1,
  substring: 1, call: 1, apply: 1, bind: 1, test: 1, exec: 1,
}
const COMPARING = { __proto__: null, indexOf: 1, lastIndexOf: 1, includes: 1, join: 1, sort: 18, toSorted: 18 }
const LONG = { __proto__: null, repeat: 1, padStart: 1, padEnd: 1 }
const metered = (owner, name, original) => {
  const search = owner === String.prototype && SEARCH[name] === 1
  const long = owner === String.prototype && LONG[name] === 1
  const comparing = owner === Array.prototype ? COMPARING[name] : undefined
  const listing = owner === Object || owner === Reflect
  const defines = listing && name === 'defineProperty'
  const wrapper = { [name](...args) {
    checkThis(owner, this)
    const own = size(this)
    let cost = 1 + (QUICK[name] === 1 ? 0 : own)
    for (let i = 0; i < args.length; i++) {
      cost += size(args[i])
      if (search && typeof args[i] === 'string') cost += own * args[i].length / 4
    }
    if (long) cost += own * (+args[0] || 0)
    if (comparing !== undefined && typeof args[0] !== 'function') cost += comparing * texts(this)
    if (defines && args[2]) cost += size(args[2].value)
    spend(cost)
    const result = new.target ? construct(original, args, new.target) : apply(original, this, args)
    spend(listing ? 4 * size(result) : size(result))
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
  spend(1 + 4 * keys.length)
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
for (const name of ['getOwnPropertyDescriptors', 'defineProperties', 'fromEntries', 'groupBy']) delete Object[name]
delete Map.groupBy
Object.fromEntries = (entries) => {
  const record = {}
  for (const [key, value] of entries) defineProperty(record, use(key), { value, enumerable: true, writable: true, configurable: true })
  return record
}
Object.assign = (target, ...sources) => {
  for (let i = 0; i < sources.length; i++) {
    if (sources[i] === null || sources[i] === undefined) continue
    const keys = keysOf(sources[i])
    spend(1 + 4 * keys.length)
    for (let k = 0; k < keys.length; k++) target[keys[k]] = use(sources[i][keys[k]])
  }
  return target
}
for (const owner of [
  Array.prototype, String.prototype, Map.prototype, Set.prototype, RegExp.prototype, Function.prototype,
  Number.prototype, Object.prototype, Error.prototype, Date.prototype, Iterator.prototype,
  Object, Reflect, Array, String, Number, Math, Symbol,
]) meter(owner)
const pattern = getOwnPropertyDescriptor(RegExp.prototype, 'source')
defineProperty(RegExp.prototype, 'source', { ...pattern, get() { const text = apply(pattern.get, this, []); spend(size(text)); return text } })
const pay = (name, each, once) => {
  const original = globalThis[name]
  const paid = function (...args) {
    let cost = once
    for (let i = 0; i < args.length; i++) cost += each * size(args[i])
    spend(cost)
    return new.target ? construct(original, args, new.target) : apply(original, this, args)
  }
  for (const key of ownKeys(original)) {
    const known = getOwnPropertyDescriptor(original, key)
    const has = getOwnPropertyDescriptor(paid, key)
    if (!has || has.configurable) defineProperty(paid, key, known)
  }
  paid.prototype = original.prototype
  if (original.prototype) defineProperty(original.prototype, 'constructor', { value: paid, writable: true, configurable: true })
  setPrototypeOf(paid, getPrototypeOf(original))
  defineProperty(globalThis, name, { value: paid, writable: true, configurable: true })
}
for (const name of ['Number', 'Symbol', 'parseInt', 'parseFloat', 'isNaN', 'isFinite', 'escape', 'unescape']) pay(name, 1, 1)
for (const name of ['decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'RegExp']) pay(name, 20, 1)
for (const name of ['Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError', 'AggregateError', 'Promise'])
  pay(name, 1, ${ERROR_COST})
const flat = Array.prototype.flat
Array.prototype.flat = function (depth) { deep(this, 0); return apply(flat, this, [depth]) }
const join = Array.prototype.join
Array.prototype.join = function (...args) { deep(this, 0); return apply(join, this, args) }
Array.prototype.toString = function () { return this.join() }
Array.prototype.toLocaleString = Array.prototype.toString

const Machine = Date
let clock = 0
const Clock = function Date(...args) {
  for (let i = 0; i < args.length; i++) spend(size(args[i]))
  const date = args.length === 0 ? construct(Machine, [clock], new.target || Clock) : construct(Machine, args, new.target || Clock)
  return new.target ? date : date.toISOString()
}
for (const name of ['parse', 'UTC']) defineProperty(Clock, name, { value: metered(Machine, name, Machine[name]) })
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
let unwritten = 0
const whole = (value) => {
  try {
    const shown = typeof value === 'string' ? value : toJson(value)
    return shown === undefined ? '' + value : shown
  } catch { return 'unprintable' }
}
const cut = (text) => apply(slice, text, [0, ${MAX_LINE}])
const text = (value) => cut(whole(value))
const write = (level) => (...args) => {
  if (log.length >= ${MAX_LINES}) { unwritten++; return }
  let line = ''
  let length = 0
  for (let i = 0; i < args.length; i++) {
    const shown = whole(args[i])
    length += (i > 0 ? 1 : 0) + shown.length
    if (line.length < ${MAX_LINE}) line = cut(line + (i > 0 ? ' ' : '') + cut(shown))
  }
  push(log, { level, message: length > ${MAX_LINE} ? line + ' ... (' + (length - ${MAX_LINE}) + ' more characters are cut)' : line })
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
const NAME = /^[A-Za-z_$][\\w$]*$/
const test = RegExp.prototype.test
const plain = Object.prototype
/* as core/plug/answer-json.ts has it, but for what says by toJSON what it is as JSON */
const faultOf = (value, path, above) => {
  if (typeof value === 'number') return value - value === 0 ? '' : path + ', which is ' + value + '; omit it or use null'
  if (typeof value === 'function' || typeof value === 'symbol') return path + ', which is a ' + typeof value + '; use data'
  if (value === null || typeof value !== 'object' || typeof value.toJSON === 'function') return ''
  for (let one = above; one !== null; one = one.above) {
    if (one.value === value) return path + ', which leads back to ' + one.path + '; use a copy without the circle'
  }
  const depth = above === null ? 0 : above.depth + 1
  // What nests deeper is refused with the rest of what is too deep.
  if (depth > ${DEPTH}) return ''
  const below = { value, path, above, depth }
  if (isArray(value)) {
    spend(1 + value.length)
    for (let i = 0; i < value.length; i++) {
      const at = path + '[' + i + ']'
      const fault = value[i] === undefined ? at + ', which is undefined; use null' : faultOf(value[i], at, below)
      if (fault !== '') return fault
    }
    return ''
  }
  const prototype = getPrototypeOf(value)
  if (prototype !== null && prototype !== plain) {
    const name = value.constructor ? value.constructor.name : ''
    return path + ', which is an object of ' + (name ? 'the class ' + name : 'a class') + '; use a plain object, a list, a text or a number'
  }
  const keys = keysOf(value)
  spend(1 + 4 * keys.length)
  for (let i = 0; i < keys.length; i++) {
    const at = path + (apply(test, NAME, [keys[i]]) ? '.' + keys[i] : '[' + stringify(keys[i]) + ']')
    const fault = faultOf(value[keys[i]], at, below)
    if (fault !== '') return fault
  }
  return ''
}
let strict = false
const jsonOf = (value, path) => {
  const fault = strict ? faultOf(value, path, null) : ''
  if (fault !== '') throw new TypeError('its result has ' + fault)
  return toJson(value)
}
let remembers = false
const memory = () => {
  const { internalState } = options
  if (internalState === undefined) return remembers ? 'null' : undefined
  const json = jsonOf(internalState, 'options.internalState')
  if (json !== undefined && json.length > ${MAX_MEMORY})
    throw new RangeError('its memory has ' + json.length + ' characters, at most ${MAX_MEMORY} are kept')
  return json
}
let options = {}
const envelope = { done: false, ok: false, value: undefined, error: 'the script never answers' }
const succeed = (value) => {
  if (envelope.done) return
  envelope.done = true
  try {
    const json = jsonOf(value === undefined ? null : value, 'result')
    if (strict) envelope.memory = memory()
    envelope.value = json === undefined ? 'null' : json
    envelope.ok = true
  } catch (error) { envelope.error = messageOf(error) }
}
const fail = (error) => {
  if (envelope.done) return
  envelope.done = true
  envelope.error = messageOf(error)
}
const start = (maker, input) => {
  try {
    options = parse(input)
    strict = options.strict === true
    delete options.strict
    remembers = options.internalState !== undefined
    clock = options.now
    seed = options.seed
    delete options.seed
    globalThis.options = options
    const send = (error, value) => (error === null || error === undefined ? succeed(value) : fail(error))
    const result = maker(use, give, made, cell, keys, step, fault, last)(options, send)
    if (result !== null && typeof result === 'object' && typeof result.then === 'function') result.then(succeed, fail)
    else if (result !== undefined) succeed(result)
  } catch (error) { fail(error) }
}
const finish = () => {
  if (unwritten > 0) push(log, { level: 'WARN', message: unwritten + ' more lines are omitted; a call keeps ${MAX_LINES}' })
  return answer()
}
const answer = () => stringify(envelope.ok ? [true, envelope.value, log, envelope.memory] : [false, envelope.error, log])
return [start, finish]
})()`
