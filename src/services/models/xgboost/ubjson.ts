/**
 * Parses Universal Binary JSON, a format in which XGBoost saves boosters: big-endian, with typed lists as arrays of
 * numbers.
 */
import { ByteReader, wrong } from './byte-reader.ts'

const MAX_DEPTH = 50
const MARK = { list: 0x5b, listEnd: 0x5d, object: 0x7b, objectEnd: 0x7d, type: 0x24, count: 0x23 } as const

export function readUbjson(bytes: Uint8Array): unknown {
  const reader = new Reader(bytes)
  return reader.value(reader.mark(), 0)
}

class Reader extends ByteReader {
  mark(): number {
    return this.view.getUint8(this.pass(1))
  }

  value(mark: number, depth: number): unknown {
    if (depth > MAX_DEPTH) throw wrong(`it nests deeper than ${MAX_DEPTH} levels`)
    if (mark === MARK.list) return this.#list(depth)
    if (mark === MARK.object) return this.#object(depth)
    const letter = String.fromCharCode(mark)
    if (letter === 'Z' || letter === 'N') return null
    if (letter === 'T' || letter === 'F') return letter === 'T'
    if (letter === 'S') return this.text(this.#length())
    if (letter === 'C') return this.text(1)
    const number = NUMBERS.get(letter)
    if (number === undefined) throw wrong(`it has the unknown mark ${JSON.stringify(letter)} at byte ${this.at - 1}`)
    return number.read(this.view, this.pass(number.size))
  }

  #length(): number {
    const length = this.value(this.mark(), 0)
    if (typeof length !== 'number' || length < 0 || !Number.isInteger(length)) throw wrong('a length is invalid')
    // each item takes at least one byte
    if (length > this.left) throw wrong('a length is beyond its end')
    return length
  }

  #head(): { readonly type: number | undefined; readonly count: number | undefined } {
    let type: number | undefined
    if (this.#peek() === MARK.type) {
      this.at++
      type = this.mark()
    }
    if (this.#peek() !== MARK.count) {
      if (type !== undefined) throw wrong('a type has no count')
      return { type, count: undefined }
    }
    this.at++
    return { type, count: this.#length() }
  }

  #list(depth: number): unknown[] {
    const { type, count } = this.#head()
    const values: unknown[] = []
    if (count === undefined) {
      while (this.#peek() !== MARK.listEnd) values.push(this.value(this.mark(), depth + 1))
      this.at++
      return values
    }
    for (let n = 0; n < count; n++) values.push(this.value(type ?? this.mark(), depth + 1))
    return values
  }

  #object(depth: number): Record<string, unknown> {
    const { type, count } = this.#head()
    const entries: [string, unknown][] = []
    const more = (): boolean => (count === undefined ? this.#peek() !== MARK.objectEnd : entries.length < count)
    while (more()) {
      const key = this.text(this.#length())
      entries.push([key, this.value(type ?? this.mark(), depth + 1)])
    }
    if (count === undefined) this.at++
    return Object.fromEntries(entries)
  }

  #peek(): number {
    if (this.left === 0) throw wrong('it ends too early')
    return this.view.getUint8(this.at)
  }
}

interface NumberType {
  readonly size: number
  readonly read: (view: DataView, at: number) => number
}

const NUMBERS: ReadonlyMap<string, NumberType> = new Map([
  ['i', { size: 1, read: (view, at) => view.getInt8(at) }],
  ['U', { size: 1, read: (view, at) => view.getUint8(at) }],
  ['I', { size: 2, read: (view, at) => view.getInt16(at) }],
  ['l', { size: 4, read: (view, at) => view.getInt32(at) }],
  ['L', { size: 8, read: (view, at) => Number(view.getBigInt64(at)) }],
  ['d', { size: 4, read: (view, at) => view.getFloat32(at) }],
  ['D', { size: 8, read: (view, at) => view.getFloat64(at) }],
])
