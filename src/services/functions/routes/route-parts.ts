/** What all routes of the registry share: how a query is read, what a body is, and when an answer waits. */
import type { FastifyInstance, FastifyReply, RouteHandlerMethod, RouteShorthandOptions } from 'fastify'
import { AppError, type Caller, isPlainObject } from '#kernel'
import { asking, describing, QueryReader } from '#services/shared'
import type { Change, CreateOptions, FunctionsApi, FunctionType, SingleFunction, TagsQuery } from '../contract.ts'
import { type Assets, readArchive } from '../registry/archive.ts'
import { UploadForm } from '../registry/upload-form.ts'
import { timestampOf } from '../registry/timestamp-spec.ts'
import { changeBody, PREFIX } from './wire.ts'
import { ErrorSchema } from './schemas.ts'

export const handle = asking<FunctionsApi, QueryReader>((query) => new QueryReader(query))
export const described = describing('functions', ErrorSchema)

/** What the routes of one type go by. */
export interface TypeRouting {
  readonly type: FunctionType
  readonly service: { as(caller: Caller): FunctionsApi }
  readonly now: () => number
}

export interface TypePaths {
  readonly all: string
  readonly one: string
  readonly version: string
}

export function pathsOf(type: FunctionType): TypePaths {
  const all = `${PREFIX}/${type}`
  return { all, one: `${all}/:name`, version: `${all}/:name/versions/:version` }
}

export const OF_NAME = ['name'] as const
export const OF_VERSION = ['name', 'version'] as const

/** Content types of archives, and of single files in an archive's place. */
export const ARCHIVE_TYPES = [
  'application/tar',
  'application/x-tar',
  'application/tar+gzip',
  'application/gzip',
  'application/x-gzip',
  'application/octet-stream',
] as const

/** Assets of an archive or a form. `VALIDATION` without any. */
export async function assetsOf(body: unknown): Promise<Assets> {
  if (body instanceof UploadForm) return body.assets
  if (body instanceof Uint8Array && body.length > 0) return readArchive(body)
  throw new AppError('VALIDATION', 'there is no body: send a tar of the assets, gzipped or not, or a form of them')
}

/** The same, or a manifest in JSON, or nothing: what is copied may need no more. */
export async function sourceOf(
  body: unknown,
  isCopy: boolean,
): Promise<{ readonly assets: Assets; readonly manifest?: CreateOptions['manifest'] }> {
  if (isPlainObject(body)) return { assets: NO_ASSETS, manifest: body }
  const isEmpty = body === undefined || body === null || (body instanceof Uint8Array && body.length === 0)
  return { assets: isEmpty && isCopy ? NO_ASSETS : await assetsOf(body) }
}

const NO_ASSETS: Assets = new Map()

/** Bytes of one asset, which may be none. */
export function bytesOf(body: unknown): Uint8Array {
  return body instanceof Uint8Array ? body : new Uint8Array()
}

/** Epoch ms of a parameter that is an instant or an age. */
export function timeIn(query: QueryReader, name: string, now: number): number | undefined {
  const text = query.text(name)
  if (text === undefined) return undefined
  const time = timestampOf(text, now)
  if (time === undefined)
    query.wrong(name, `"${text}" is neither an instant nor an age`, 'write 2026-01-31T12:00:00Z or 30d')
  return time
}

/** Values of a parameter that may repeat, or have commas between them. */
export function listIn(query: QueryReader, name: string): readonly string[] | undefined {
  const values = query
    .texts(name)
    .flatMap((text) => text.split(','))
    .filter((text) => text !== '')
  return values.length === 0 ? undefined : values
}

/** Values that must be among those known. */
export function namesIn<T extends string>(
  query: QueryReader,
  name: string,
  known: readonly T[],
): readonly T[] | undefined {
  const values = listIn(query, name)
  return values?.flatMap((value) => {
    const found = known.find((one) => one === value)
    if (found === undefined) query.wrong(name, `"${value}" is unknown`, `write one of ${known.join(', ')}`)
    return found ?? []
  })
}

export interface Answering extends TagsQuery {
  readonly isAsync: boolean
  readonly done?: 200 | 201
  /** what is told besides once it is done */
  readonly more?: (after: SingleFunction) => object
}

/** 202 at once, or 201 when its jobs are over: `async=false` waits for them. */
export async function sendChange(
  api: FunctionsApi,
  reply: FastifyReply,
  change: Change,
  { isAsync, done = 201, showTags, more = () => ({}) }: Answering,
): Promise<FastifyReply> {
  const { job, entity } = change
  if (job === undefined || isAsync) return reply.code(job === undefined ? done : 202).send(changeBody(change))
  await api.jobs.finished(job.id)
  const { entity: _before, job: _job, ...rest } = change
  const { name, version, tags } = entity
  const after = await api.get(name, version, { showTags })
  const { related: _related, job: _left, ...shown } = after
  return reply
    .code(done)
    .send({ ...changeBody({ ...rest, entity: { ...shown, ...(tags && { tags }) } }), ...more(after) })
}

/** A list by its path, and the same with a slash behind, which some clients write. */
export function addList(
  app: FastifyInstance,
  path: string,
  options: RouteShorthandOptions,
  handler: RouteHandlerMethod,
): void {
  app.get(path, options, handler)
  app.get(`${path}/`, { ...options, schema: { ...options.schema, hide: true } }, handler)
}

export function texts<N extends string>(query: QueryReader, ...names: readonly N[]): { readonly [K in N]?: string } {
  const found = names.flatMap((name) => {
    const text = query.text(name)
    return text === undefined ? [] : [[name, text] as const]
  })
  return Object.fromEntries(found) as { readonly [K in N]?: string }
}

export function flags<N extends string>(query: QueryReader, ...names: readonly N[]): { readonly [K in N]?: boolean } {
  const found = names.flatMap((name) => {
    const flag = query.flag(name)
    return flag === undefined ? [] : [[name, flag] as const]
  })
  return Object.fromEntries(found) as { readonly [K in N]?: boolean }
}

/** How tags are shown. */
export function tagsIn(query: QueryReader): TagsQuery {
  const showTags = query.oneOf('showTags', ['inline', 'embed', 'none'])
  return showTags === undefined ? {} : { showTags }
}

export function policyIn(query: QueryReader): { readonly deprecatePrevious?: 'none' | 'patch' | 'minor' | 'all' } {
  const policy = query.oneOf('deprecatePrevious', ['none', 'patch', 'minor', 'all'])
  return policy === undefined ? {} : { deprecatePrevious: policy }
}
