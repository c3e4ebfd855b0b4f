/** Lists how one JSON value differs from another, without secrets and without long values. */
import { isPlainObject } from './json.ts'

export interface Difference {
  /** JSON pointer; empty: the whole value */
  readonly path: string
  /** absent: the member is new */
  readonly from?: unknown
  /** absent: the member was removed */
  readonly to?: unknown
}

const MAX_LINES = 200
/** Characters of JSON up to which a value is shown whole, and to which a longer one is cut */
const MAX_SHOWN = 16_384
const CUT = 1_000
const SECRET = /secret|password|passphrase|credential|token|api_?key|private_?key|authorization|sealed|^salt$|^hash$/i
const MASK = '***'

/** Members of equal names are compared, and elements of equal index. `undefined`: no value. */
export function differenceOf(from: unknown, to: unknown): readonly Difference[] {
  const all = [...differences('', from, to)]
  if (all.length <= MAX_LINES) return all
  return [...all.slice(0, MAX_LINES), { path: '', to: `${all.length - MAX_LINES} more changes` }]
}

function* differences(path: string, from: unknown, to: unknown): Generator<Difference> {
  if (from === to) return
  const [before, after] = [membersOf(from), membersOf(to)]
  if (before === undefined || after === undefined || Array.isArray(from) !== Array.isArray(to)) {
    yield { path, ...(from !== undefined && { from: shown(from) }), ...(to !== undefined && { to: shown(to) }) }
    return
  }
  const names = [...new Set([...before.keys(), ...after.keys()])]
  if (!Array.isArray(from)) names.sort()
  for (const name of names) {
    const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const [old, now] = [before.get(name), after.get(name)]
    if (!SECRET.test(name)) yield* differences(at, old, now)
    else if (JSON.stringify(old) !== JSON.stringify(now)) {
      yield { path: at, ...(old !== undefined && { from: MASK }), ...(now !== undefined && { to: MASK }) }
    }
  }
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (Array.isArray(value)) return new Map(value.map((one: unknown, index) => [String(index), one]))
  return isPlainObject(value) ? new Map(Object.entries(value)) : undefined
}

function shown(value: unknown): unknown {
  const masked = withoutSecrets(value)
  const text = JSON.stringify(masked)
  if (text.length <= MAX_SHOWN) return masked
  return `${(typeof masked === 'string' ? masked : text).slice(0, CUT)}... (${text.length} characters of JSON)`
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (!isPlainObject(value)) return value
  const members = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(members.map(([name, one]) => [name, SECRET.test(name) ? MASK : withoutSecrets(one)]))
}
