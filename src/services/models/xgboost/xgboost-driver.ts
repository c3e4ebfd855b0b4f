/** Evaluates XGBoost boosters in process, without Python. */
import { AppError, isPlainObject, Issues, type Json, messageOf, ownValue, shown } from '#kernel'
import type { ModelCall, ModelDriver, OpenModel, PackageOfFiles, Signature } from '../driver.ts'
import { mainFileOf } from '../frameworks.ts'
import { checkNames } from '../named-features.ts'
import { type Booster, marginsOf } from './booster.ts'
import { readBinary } from './read-binary.ts'
import { readDocument } from './read-document.ts'
import { readUbjson } from './ubjson.ts'

/** most bytes of a booster, which is parsed in one go */
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
