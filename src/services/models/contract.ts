/**
 * Hosted models: zips of five frameworks or models on other servers, under names of the tenant, and their predictions.
 *
 * MODEL-1 a model is `ready`, and can be called, only after a driver has loaded it
 * MODEL-2 a rejected upload leaves the model unchanged
 * MODEL-3 a result has one entry per instance, in the order of the instances, whatever else is in the same batch
 * MODEL-5 a model cannot harm other models
 * MODEL-6 an upload becomes a version in the function registry, if the host has one; a name refers to the newest
 *   published version that was verified, else to the newest verified draft
 * MODEL-7 headers for the server of a model are stored and shown sealed, and opened only for requests to that server
 * MODEL-8 a deleted model stays deleted: work in progress on the model stores nothing
 *
 * Errors are AppErrors: `VALIDATION`, `TOO_LARGE`, `NOT_FOUND`, `CONFLICT`, `NOT_READY` (the model is still loading),
 * `MODEL_FAILED` (with the model's own message), `UNSUPPORTED` (no driver of this host can run the model),
 * `REMOTE_FAILED` and `REMOTE_LATE` (the model's server is unreachable or too slow), `CLOSED`.
 */
import type { Caller, Json } from '#kernel'
import type { Write } from '#storage'
import type { Framework } from './frameworks.ts'
import type {
  ExamplesRequest,
  FrameworkInfo,
  ModelChange,
  ModelExample,
  ModelInfo,
  PredictRequest,
  RemoteModel,
} from './model-schema.ts'

export { type Framework, FRAMEWORKS, REMOTE_PROTOCOLS, type RemoteProtocol } from './frameworks.ts'
export type { ModelInfo, RemoteModel } from './model-schema.ts'

export interface ModelsService {
  as(caller: Caller): ModelsApi
}

/** The models service for use inside the host. */
export interface InternalModels extends ModelsService {
  /** Port for the function registry, which manages versions of models. */
  readonly releases: ModelReleases
  start(): Promise<void>
  stop(): Promise<void>
  gauges(): ModelsGauges
}

/** Totals since the start of the host. */
export interface ModelsGauges {
  readonly calls: number
  readonly instances: number
  readonly failed: number
}

/** A version of a model in the function registry. */
export interface ModelRelease {
  readonly name: string
  /** version as major.minor.patch */
  readonly version: string
  readonly framework: Framework
  readonly description: string
  readonly user: string
  /** files by path; files outside the framework's layout are ignored */
  readonly files: ReadonlyMap<string, Uint8Array>
  /**
   * returns writes to commit with the record, so that a deleted version is not installed; undefined when it was deleted
   */
  readonly whileThere: () => Promise<readonly Write[] | undefined>
}

/** Lets the registry decide which version a name refers to. */
export interface ModelReleases {
  /**
   * Loads a version and installs it under its name if the name has no version yet. Throws `VALIDATION`, `MODEL_FAILED`,
   * `UNSUPPORTED` or `TOO_LARGE`.
   */
  deploy(release: ModelRelease): Promise<void>
  /**
   * Calls the version with its example. Throws like `predict`; however, `VALIDATION` of the example counts as success.
   */
  check(release: ModelRelease): Promise<void>
  /** Makes the name refer to this version. */
  serve(release: ModelRelease): Promise<void>
  /** Updates the description, if the name refers to this version. */
  describe(release: Omit<ModelRelease, 'framework' | 'files' | 'whileThere'>): Promise<void>
  /** Returns the version that a name refers to; undefined when it is not a version of the registry. */
  served(name: string): Promise<string | undefined>
  withdraw(name: string, version: string): Promise<void>
  rest(name: string, version: string): Promise<void>
}

export interface ModelsApi {
  /** Lists models by name; `name` in the query matches part of a name. */
  list(query?: { readonly name?: string }): Promise<readonly ModelInfo[]>
  get(name: string): Promise<ModelInfo>
  /** Throws `CONFLICT` when the name is taken. */
  create(upload: ModelUpload | RemoteUpload): Promise<ModelInfo>
  /** Throws `NOT_FOUND` for an unknown name. */
  replace(name: string, upload: Omit<ModelUpload, 'name'> | Omit<RemoteUpload, 'name'>): Promise<ModelInfo>
  /** Changes the description but not the files, so the version stays. Throws `NOT_FOUND`. */
  patch(name: string, change: ModelChange): Promise<ModelInfo>
  remove(name: string): Promise<ModelInfo>
  /** Returns the uploaded zip. Throws `NOT_FOUND` for a remote model. */
  content(name: string): Promise<ModelContent>
  /** Returns valid example bodies, one per signature. */
  examples(name: string): Promise<readonly ModelExample[]>
  predict(name: string, request: PredictRequest): Promise<Predicted>
  /** `classify` and `regress` are available for TensorFlow only. */
  classify(name: string, request: ExamplesRequest): Promise<Classified>
  regress(name: string, request: ExamplesRequest): Promise<Regressed>
  /** Returns the runtimes that this host has for each framework. */
  frameworks(): Promise<readonly FrameworkInfo[]>
}

export interface ModelUpload {
  readonly name: string
  /** one of FRAMEWORKS, or a common alias such as `scikit-learn` */
  readonly framework: string
  readonly description?: string
  /** bytes of a zip */
  readonly file: Uint8Array
}

/** A model that stays on another server. */
export interface RemoteUpload {
  readonly name: string
  /** framework as for a zip; default `custom` */
  readonly framework?: string
  readonly description?: string
  readonly remote: RemoteModel
}

export interface ModelContent {
  readonly size: number
  readonly content: AsyncIterable<Uint8Array>
}

/** `outputs` is used for requests by columns, with `inputs` instead of `instances`. */
export type Predicted = { readonly predictions: readonly Json[] } | { readonly outputs: Json }
/** Labels and scores for each example. */
export interface Classified {
  readonly result: readonly (readonly (readonly [label: string, score: number])[])[]
}
export interface Regressed {
  readonly result: readonly number[]
}
