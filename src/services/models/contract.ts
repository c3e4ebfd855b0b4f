/**
 * Hosted models: zips of five frameworks under a name of the tenant, or models that another server has, and what they
 * predict.
 *
 * MODEL-1 a model says `ready` only after a driver has loaded it; before that it is not asked
 * MODEL-2 an upload that is refused leaves the model as it was
 * MODEL-3 the answer has one entry for each instance, in their order, whoever else was in the same batch
 * MODEL-5 what a model does harms no other one
 * MODEL-6 what is uploaded here is a version of the function registry, where there is one, and a version of the registry
 *   that has answered is asked here by its name: the newest that is published, else the newest draft
 * MODEL-7 headers for the server of a model are stored and shown sealed, and opened for its requests alone
 * MODEL-8 a model that was deleted stays away: whatever was at work for it stores nothing more of it
 *
 * Errors are AppErrors: `VALIDATION`, `TOO_LARGE`, `NOT_FOUND`, `CONFLICT`, `NOT_READY` (it is still being loaded),
 * `MODEL_FAILED` (it failed, in its own words), `UNSUPPORTED` (no driver of this host runs it), `REMOTE_FAILED` and
 * `REMOTE_LATE` (the server that has it is away, or too slow), `CLOSED`.
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

/** The service as callers reach it. */
export interface ModelsService {
  as(caller: Caller): ModelsApi
}

/** The service inside the host: what its neighbours and the host call. */
export interface InternalModels extends ModelsService {
  /** What the function registry asks for its versions of models. */
  readonly releases: ModelReleases
  start(): Promise<void>
  stop(): Promise<void>
  gauges(): ModelsGauges
}

/** Totals since the start. */
export interface ModelsGauges {
  readonly calls: number
  readonly instances: number
  readonly failed: number
}

/** A version of the function registry that is a model. */
export interface ModelRelease {
  readonly name: string
  /** major.minor.patch */
  readonly version: string
  readonly framework: Framework
  readonly description: string
  /** who asked for it */
  readonly user: string
  /** by path; those that do not belong to a model of its framework are left out */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** What is committed with a record of it, so that a version that is gone takes no place. Undefined: it is gone. */
  readonly whileThere: () => Promise<readonly Write[] | undefined>
}

/** Which version a name stands for is what the registry says; what is asked of a name, that version answers. */
export interface ModelReleases {
  /** Loads it; a name that stands for nothing stands for it from now on. `VALIDATION`, `MODEL_FAILED`, `UNSUPPORTED`, `TOO_LARGE`. */
  deploy(release: ModelRelease): Promise<void>
  /** Has it predict its example. Errors as of `predict`, but for `VALIDATION` of the example: that is an answer too. */
  check(release: ModelRelease): Promise<void>
  /** From now on its name stands for it. */
  serve(release: ModelRelease): Promise<void>
  /** When the name stands for that version, it is described so. */
  describe(release: Omit<ModelRelease, 'framework' | 'files' | 'whileThere'>): Promise<void>
  /** The version that a name stands for; undefined: none of the registry. */
  served(name: string): Promise<string | undefined>
  /** When the name stands for that version, it stands for nothing any more. */
  withdraw(name: string, version: string): Promise<void>
  /** When the name stands for that version, it leaves memory until it is called. */
  rest(name: string, version: string): Promise<void>
}

/** What one caller can do with the models of its tenant. */
export interface ModelsApi {
  /** By name; those whose name has that text in it. */
  list(query?: { readonly name?: string }): Promise<readonly ModelInfo[]>
  get(name: string): Promise<ModelInfo>
  /** `CONFLICT` when the name is taken. */
  create(upload: ModelUpload | RemoteUpload): Promise<ModelInfo>
  /** `NOT_FOUND` without one. */
  replace(name: string, upload: Omit<ModelUpload, 'name'> | Omit<RemoteUpload, 'name'>): Promise<ModelInfo>
  /** Of what is known about it, not of its files: its version stays. `NOT_FOUND` without one. */
  patch(name: string, change: ModelChange): Promise<ModelInfo>
  /** Gives what was removed. */
  remove(name: string): Promise<ModelInfo>
  /** The zip, as it was uploaded. `NOT_FOUND` when another server has the model. */
  content(name: string): Promise<ModelContent>
  /** Bodies that can be sent as they are, one for each signature. */
  examples(name: string): Promise<readonly ModelExample[]>
  predict(name: string, request: PredictRequest): Promise<Predicted>
  /** Of TensorFlow alone, as `regress`. */
  classify(name: string, request: ExamplesRequest): Promise<Classified>
  regress(name: string, request: ExamplesRequest): Promise<Regressed>
  /** What models of each framework are run by on this host. */
  frameworks(): Promise<readonly FrameworkInfo[]>
}

export interface ModelUpload {
  readonly name: string
  /** one of FRAMEWORKS, or the name by which people know it, such as `scikit-learn` */
  readonly framework: string
  readonly description?: string
  /** a zip */
  readonly file: Uint8Array
}

/** A model that stays where it is, on another server. */
export interface RemoteUpload {
  readonly name: string
  /** as of an upload with a zip; default `custom` */
  readonly framework?: string
  readonly description?: string
  readonly remote: RemoteModel
}

export interface ModelContent {
  /** bytes */
  readonly size: number
  readonly content: AsyncIterable<Uint8Array>
}

/** `outputs` when columns were asked with: `inputs` in place of `instances`. */
export type Predicted = { readonly predictions: readonly Json[] } | { readonly outputs: Json }
/** For each example its labels with their scores. */
export interface Classified {
  readonly result: readonly (readonly (readonly [label: string, score: number])[])[]
}
export interface Regressed {
  readonly result: readonly number[]
}
