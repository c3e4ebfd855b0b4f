/** Evaluates XGBoost boosters in process, without Python. */
import { AppError, isPlainObject, Issues, type Json, messageOf, ownValue, shown } from '#kernel'
import type { ModelCall, ModelDriver, OpenModel, PackageOfFiles, Signature } from '../driver.ts'
import { mainFileOf } from '../frameworks.ts'
import { checkNames } from '../named-features.ts'
import { type Booster, marginsOf } from './booster.ts'
import { readBinary } from './read-binary.ts'
import { ByteReader, readDocument, wrong } from './read-document.ts'

/** maximum number of bytes of a booster, which is parsed in one go */
const MAX_BYTES = 33_554_432
/** number of nodes visited before yielding */
const TURN = 500_000
const OPEN_OBJECT = 0x7b
const MAX_ISSUES = 20

export interface XgboostDriverOptions {
  readonly breathe: () => Promise<void>
}

export function xgboostDriver({ breathe }: XgboostDriverOptions): ModelDriver {
  return {
    name: 'xgboost',
    refuses: (model) => {
      if (model.remote !== undefined || model.framework !== 'xgboost') {
        return Promise.resolve('it evaluates XGBoost boosters')
      }
      const size = model.files.get(mainFileOf('xgboost'))?.length ?? 0
      return Promise.resolve(size > MAX_BYTES ? `boosters larger than ${MAX_BYTES} bytes are not supported` : undefined)
    },
    open: async (model) => {
      if (model.remote !== undefined) throw new AppError('UNSUPPORTED', 'the model has no files')
      return openBooster(readBooster(model), breathe)
    },
    runtimes: async () => [
      { name: 'xgboost', driver: 'xgboost', framework: 'xgboost', framework_version: 'saved by 0.x to 3.x' },
    ],
    close: () => Promise.resolve(),
  }
}

function readBooster({ files }: PackageOfFiles): Booster {
  const bytes = files.get(mainFileOf('xgboost')) ?? new Uint8Array()
  const [first, second] = bytes
  if (first !== OPEN_OBJECT) return readBinary(bytes)
  // in JSON a quote or white space follows, in UBJSON the type of a length
  const isText = second === 0x22 || second === 0x20 || second === 0x0a || second === 0x0d
  return readDocument(isText ? jsonOf(bytes) : readUbjson(bytes))
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    throw new AppError('VALIDATION', `the booster cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

function openBooster(booster: Booster, breathe: () => Promise<void>): OpenModel {
  const { featureNames, features, model, version, objective, groups, bestIteration } = booster
  const signature: Signature = { operation: 'predict', inputs: [{ type: 'number', shape: [features] }] }
  const walked = model.kind === 'linear' ? features * groups : model.trees.length * 8
  const rowsOfTurn = Math.max(1, Math.floor(TURN / Math.max(1, walked)))
  return {
    signatures: [signature],
    ...(version !== undefined && { frameworkVersion: version }),
    warnings: bestIteration === undefined ? [] : [earlyStopped(bestIteration)],
    call: async ({ instances }: ModelCall) => {
      const rows = rowsOf(instances, features, featureNames)
      const values: Json[] = []
      for (const [at, row] of rows.entries()) {
        if (at > 0 && at % rowsOfTurn === 0) await breathe()
        values.push(checked(objective.predictionOf(marginsOf(booster, row)), at))
      }
      return values
    },
    close: () => Promise.resolve(),
  }
}

/** Warns that all rounds are used, as `Booster.predict` of the library does, unlike its scikit-learn wrapper. */
function earlyStopped(best: number): string {
  const rounds = `best_iteration is ${best}, but predictions use all rounds, as Booster.predict does`
  return `it was trained with early stopping: ${rounds}; save booster[:${best + 1}] to use only the rounds up to the best one`
}

/** Rejects infinities, which JSON does not support. */
function checked(value: number | readonly number[], at: number): Json {
  const isGood = typeof value === 'number' ? Number.isFinite(value) : value.every(Number.isFinite)
  if (isGood) return value
  throw new AppError(
    'MODEL_FAILED',
    `the model returned ${JSON.stringify(String(value))} for instance ${at}, which is not a number`,
  )
}

function rowsOf(
  instances: readonly Json[],
  features: number,
  featureNames: readonly string[],
): readonly Float32Array[] {
  const names = new Set(featureNames)
  const issues = new Issues('INSTANCE', MAX_ISSUES)
  const numberOf = (value: unknown, path: string): number => {
    if (value === null) return Number.NaN
    if (typeof value === 'number' || typeof value === 'boolean') return Number(value)
    issues.wrong(path, `is ${shown(value)}`, 'send a number, or null if it is missing')
    return Number.NaN
  }
  const rows = instances.map((instance, at) => {
    const path = `/instances/${at}`
    if (isPlainObject(instance) && names.size > 0) {
      checkNames(instance, path, names, { issues, right: 'send null for a missing value' })
      return Float32Array.from(featureNames, (name) => numberOf(ownValue(instance, name) ?? null, `${path}/${name}`))
    }
    if (isPlainObject(instance)) {
      const wrong = 'has named features, but the booster was saved without names'
      issues.wrong(path, wrong, `send a list of ${features} numbers`)
    } else if (!Array.isArray(instance)) {
      issues.wrong(path, `is ${shown(instance)}`, `send a list of ${features} numbers`)
    } else {
      if (instance.length !== features)
        issues.wrong(path, `has ${instance.length} values`, `send ${features}, with null for a missing one`)
      return Float32Array.from(instance, (value, index) => numberOf(value, `${path}/${index}`))
    }
    return new Float32Array()
  })
  issues.throwIfAny('The request')
  return rows
}

const MAX_DEPTH = 50
const MARK = { list: 0x5b, listEnd: 0x5d, object: 0x7b, objectEnd: 0x7d, type: 0x24, count: 0x23 } as const

/**
 * Parses Universal Binary JSON, a format in which XGBoost saves boosters: big-endian, with typed lists as arrays of
 * numbers.
 */
function readUbjson(bytes: Uint8Array): unknown {
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
