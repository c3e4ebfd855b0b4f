/** Runs versions of the registry as models; a version without a name is only loaded for verification. */
import { Zip, ZipPassThrough } from 'fflate'
import { AppError, isPlainObject, Issues, type Json, retryOnConflict, shown } from '#kernel'
import { partsOf } from '#services/shared'
import type { ModelRelease, ModelReleases } from './contract.ts'
import type { ModelCall, OpenModel, PackageOfFiles } from './driver.ts'
import type { Framework, ModelOperation } from './frameworks.ts'
import type { LoadedModels } from './loaded-models.ts'
import { readFiles } from './model-files.ts'
import type { ModelLoader } from './model-loader.ts'
import { type ModelRecord, nextRecord } from './model-record.ts'
import type { ExamplesRequest, PredictRequest } from './model-schema.ts'
import type { ModelStore } from './model-store.ts'
import { examplesOf } from './signatures.ts'

async function writeZip(files: ReadonlyMap<string, Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  const failures: Error[] = []
  const zip = new Zip((error, piece) => {
    if (error === null) pieces.push(piece)
    else failures.push(error)
  })
  for (const [path, content] of files) {
    const entry = new ZipPassThrough(path)
    entry.mtime = EPOCH
    zip.add(entry)
    for await (const part of partsOf(content)) entry.push(part)
    entry.push(new Uint8Array(), true)
  }
  zip.end()
  for (const failure of failures) throw failure
  return Buffer.concat(pieces)
}

/** earliest date that zips can represent in every time zone */
const EPOCH = '1980-01-02'

export interface ReleasesOptions {
  readonly store: ModelStore
  readonly loader: ModelLoader
  readonly loaded: LoadedModels
  readonly now: () => number
  readonly newId: () => string
}

export class Releases implements ModelReleases {
  readonly #options: ReleasesOptions

  constructor(options: ReleasesOptions) {
    this.#options = options
  }

  async deploy(release: ModelRelease): Promise<void> {
    const { name, version } = release
    const { loaded, loader, store } = this.#options
    const packaged = this.#packageOf(release)
    const { digest } = packaged
    const found = await store.find(name)
    refuseRemote(found?.value)
    // the version was deleted while waiting
    if ((await release.whileThere()) === undefined) return
    if (found === undefined) await this.#install(release, packaged, 'free')
    // load a redeployed version again, unless another version is installed or this one is still loading
    const isInstalled = found?.value.release === version && found.value.state.kind !== 'loading'
    if (found?.value.digest !== digest || isInstalled) loaded.drop(packaged)
    const state = await loader.stateOf(packaged, () => Promise.resolve(packaged))
    const now = await store.find(name)
    if (now?.value.release === version && now.value.digest === digest) await store.storeState(now.value, state)
    else if (now?.value.digest !== digest && (await release.whileThere()) === undefined) return loaded.drop(packaged)
    if (state.kind === 'failed') throw new AppError('MODEL_FAILED', state.reason)
    if (state.kind === 'unsupported') throw new AppError('UNSUPPORTED', state.reason)
  }

  async check(release: ModelRelease): Promise<void> {
    const { loaded, store } = this.#options
    const { name } = release
    const packaged = this.#packageOf(release)
    const { digest, framework } = packaged
    try {
      await loaded.use(
        packaged,
        () => Promise.resolve(packaged),
        (model) => callExample(framework, model),
      )
    } finally {
      const served = await store.find(name)
      if (served?.value.digest !== digest) loaded.drop(packaged)
    }
  }

  async serve(release: ModelRelease): Promise<void> {
    const packaged = this.#packageOf(release)
    const record = await this.#install(release, packaged, 'any')
    if (record !== undefined) this.#options.loader.load(record, packaged.files)
  }

  async describe(release: Parameters<ModelReleases['describe']>[0]): Promise<void> {
    const { name, version, description, user: updatedBy } = release
    const { now, store } = this.#options
    await store.change(name, (record) =>
      record.release === version && record.description !== description
        ? { ...record, description, updatedBy, updatedOn: now() }
        : undefined,
    )
  }

  async served(name: string): Promise<string | undefined> {
    return (await this.#options.store.find(name))?.value.release
  }

  async withdraw(name: string, version: string): Promise<void> {
    const { loaded, store } = this.#options
    const removed = await store.remove(name, ({ release }) => release === version)
    if (removed !== undefined) loaded.drop({ tenant: store.tenant, digest: removed.digest })
  }

  async rest(name: string, version: string): Promise<void> {
    const { loaded, store } = this.#options
    const found = await store.find(name)
    if (found?.value.release === version) loaded.drop({ tenant: store.tenant, digest: found.value.digest })
  }

  #packageOf(release: ModelRelease): PackageOfFiles {
    return { ...readFiles(release), tenant: this.#options.store.tenant, name: release.name }
  }

  /** Undefined when it is already installed, another version stays installed, or this one was deleted. */
  async #install(
    { name, version, description, user, whileThere }: ModelRelease,
    { framework, digest, files }: PackageOfFiles,
    when: 'free' | 'any',
  ): Promise<ModelRecord | undefined> {
    const { loaded, newId, now, store } = this.#options
    const { tenant } = store
    const zip = await writeZip(files)
    return retryOnConflict(async () => {
      const found = await store.find(name)
      const former = found?.value
      refuseRemote(former)
      if (former !== undefined && (when === 'free' || (former.release === version && former.digest === digest)))
        return undefined
      const conditions = await whileThere()
      if (conditions === undefined) return undefined
      const record = nextRecord(former, {
        name,
        framework,
        description,
        release: version,
        digest,
        upload: newId(),
        state: { kind: 'loading' },
        updatedBy: user,
        updatedOn: now(),
      })
      await store.put(record, zip, found, conditions)
      if (former !== undefined && former.digest !== digest) loaded.drop({ tenant, digest: former.digest })
      return record
    })
  }
}

function refuseRemote(record: ModelRecord | undefined): void {
  if (record?.remote !== undefined)
    throw new AppError('VALIDATION', `/models/${record.name} is a model on another server; delete that model first`)
}

/** Predicts the model's first example; a model with unknown inputs has none. Throws `MODEL_FAILED`. */
async function callExample(framework: Framework, model: OpenModel): Promise<void> {
  const example = examplesOf(model.signatures).find(({ endpoint }) => endpoint === 'predict')
  if (example === undefined) return
  try {
    await model.call(readPredict(framework, example.payload))
  } catch (error) {
    // rejecting the example's zeros with a reason still shows that the model responds
    if (!(error instanceof AppError) || error.code !== 'VALIDATION') throw error
  }
}

const MAX_INSTANCES = 10_000

/** Frameworks whose instances may be objects of named features. */
const NAMED: ReadonlySet<Framework> = new Set(['xgboost', 'tensorflow', 'custom'])

/** Parses calls of models by framework: rows in `instances`, columns in `inputs`, and `examples` with their context. */
export function readPredict(framework: Framework, body: PredictRequest): ModelCall {
  const { instances, inputs, signature_name: signature, probabilities } = body
  const issues = new Issues('CALL', 20)
  if (signature !== undefined && framework !== 'tensorflow') {
    issues.wrong('/signature_name', 'is only supported by TensorFlow models', 'omit it')
  }
  if (probabilities !== undefined && framework !== 'sklearn') {
    issues.wrong('/probabilities', 'is only supported by scikit-learn models', 'omit it')
  }
  const rows = (instances as readonly Json[] | undefined) ?? rowsOf(inputs, issues)
  checkCount(rows)
  const named = NAMED.has(framework) ? -1 : rows.findIndex(isPlainObject)
  if (named >= 0) {
    const wrong = `has named features, which are only supported by models of ${[...NAMED].join(' and ')}`
    issues.wrong(`/instances/${named}`, wrong, 'send a list of numbers')
  }
  issues.throwIfAny('The request')
  return {
    operation: 'predict',
    ...(signature !== undefined && { signature }),
    ...(probabilities === true && { probabilities }),
    instances: rows,
  }
}

export function readExamples(framework: Framework, operation: ModelOperation, body: ExamplesRequest): ModelCall {
  if (framework !== 'tensorflow') {
    const message = `${operation} is only supported by TensorFlow models; for ${framework} call predict`
    throw new AppError('VALIDATION', message)
  }
  const { examples, context = {}, signature_name: signature } = body
  checkCount(examples)
  const issues = new Issues('CALL', 20)
  for (const [at, row] of examples.entries()) {
    // calls made by rules are not checked by a route
    if (!isPlainObject(row))
      issues.wrong(`/examples/${at}`, `is ${shown(row)}, and must be an object of named features`)
    for (const key of Object.keys(context)) {
      if (Object.hasOwn(row, key)) issues.wrong(`/examples/${at}/${key}`, 'is also in context', 'omit one of them')
    }
  }
  issues.throwIfAny('The request')
  const instances = examples.map((row) => ({ ...context, ...row }))
  return { operation, ...(signature !== undefined && { signature }), instances }
}

function checkCount({ length }: readonly Json[]): void {
  if (length <= MAX_INSTANCES) return
  throw new AppError('TOO_LARGE', `${length} instances exceed the limit of ${MAX_INSTANCES} per call`)
}

function rowsOf(inputs: unknown, issues: Issues): readonly Json[] {
  if (!isPlainObject(inputs)) return listOf(inputs, '/inputs', issues)
  const columns = Object.entries(inputs).map(
    ([name, value]) => [name, listOf(value, `/inputs/${name}`, issues)] as const,
  )
  const [first] = columns
  if (first === undefined) {
    issues.wrong('/inputs', 'has no column', 'send a list for each input')
    return []
  }
  const [firstName, { length }] = first
  for (const [name, { length: count }] of columns) {
    if (count !== length) issues.wrong(`/inputs/${name}`, `has ${count} values, and ${firstName} has ${length}`)
  }
  return Array.from({ length }, (_, at) =>
    Object.fromEntries(columns.map(([name, column]) => [name, column[at] ?? null])),
  )
}

function listOf(value: unknown, path: string, issues: Issues): readonly Json[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : []
  if (list.length === 0) issues.wrong(path, 'is not a list with values', 'send one or more')
  return list as readonly Json[]
}

/** Converts rows to columns: for objects one list per name, otherwise the list itself. */
export function byColumn(rows: readonly Json[]): Json {
  const [first] = rows
  if (!isPlainObject(first)) return rows
  return Object.fromEntries(
    Object.keys(first).map((name) => [name, rows.map((row) => (isPlainObject(row) ? (row[name] ?? null) : null))]),
  )
}
