/** Parses requests for contents, and checks whether they are permitted (OBJECT-5). */
import type { FastifyRequest } from 'fastify'
import { NAME_PREFIX, readBucketName } from '../buckets.ts'
import type { BucketRight, ObjectRecord, ObjectsApi } from '../contract.ts'
import { S3Error } from '../signing/s3-error.ts'
import type { SigningKeys } from '../signing/signing-keys.ts'
import { decoded, isSigned, verifyAddress, type Grant, type SentRequest } from '../signing/verify-address.ts'

export interface ContentRouting {
  /** returns the objects API of a tenant, with every right */
  readonly objectsOf: (tenant: string) => ObjectsApi
  /** like `objectsOf`, but undefined when the tenant does not exist */
  readonly find: (tenant: string) => ObjectsApi | undefined
  readonly keys: SigningKeys
  readonly now: () => number
  readonly later: (ms: number, work: () => void) => () => void
}

export interface ContentAddress {
  readonly tenant: string
  readonly alias: string
  readonly bucketName: string
  /** decoded path of the object */
  readonly key: string
  readonly sent: SentRequest
}

export interface AdmittedRequest extends ContentAddress {
  readonly api: ObjectsApi
  /** what the signature permits; absent for public contents */
  readonly grant?: Grant
}

export function contentAddress(request: FastifyRequest, prefix: string): ContentAddress {
  const { raw, method, externalUrl } = request
  const url = raw.url ?? ''
  const at = url.indexOf('?')
  const path = at < 0 ? url : url.slice(0, at)
  const own = path.slice(prefix.length)
  const [, bucketText = '', ...rest] = own.split('/')
  const bucketName = decoded(bucketText)
  const bucket = bucketName.startsWith(NAME_PREFIX) ? readBucketName(bucketName) : undefined
  if (bucket === undefined) throw new S3Error('NoSuchBucket', 'The specified bucket does not exist')
  const query = at < 0 ? '' : url.slice(at + 1)
  refuseParts(query)
  // addresses are signed for the external address, whatever a proxy makes of it
  const external = externalUrl === undefined ? undefined : new URL(externalUrl)
  const signed = external && { path: external.pathname.replace(/\/$/, '') + own, host: external.host }
  const sent = { method, path, host: request.host, ...signed, query, headers: headerPairs(raw.rawHeaders) }
  return { ...bucket, bucketName, key: decoded(rest.join('/')), sent }
}

export async function admitRequest(
  address: ContentAddress,
  right: BucketRight,
  { objectsOf, find, keys, now }: ContentRouting,
): Promise<AdmittedRequest> {
  const { tenant, alias, sent } = address
  if (isSigned(sent.query)) {
    const grant = verifyAddress(keys, sent, now())
    if (grant.tenant !== tenant || grant.bucket !== alias || !grant.rights.includes(right)) throw denied()
    return { ...address, api: objectsOf(tenant), grant }
  }
  const api = right === 'read' ? find(tenant) : undefined
  if (api === undefined || !(await api.bucket(alias)).isPublic) throw denied()
  return { ...address, api }
}

export async function requestedRecord({ api, alias, key }: AdmittedRequest): Promise<ObjectRecord> {
  const found = key === '' || key.endsWith('/') ? undefined : await api.stat(alias, key)
  if (found === undefined || 'isFolder' in found) throw new S3Error('NoSuchKey', 'The specified key does not exist.')
  return found
}

export function denied(): S3Error {
  return new S3Error('AccessDenied', 'Access Denied.')
}

/** S3 query parameters that address something other than an object's content. */
const PARTS: ReadonlySet<string> = new Set([
  'acl',
  'attributes',
  'legal-hold',
  'restore',
  'retention',
  'select',
  'tagging',
  'torrent',
  'versionId',
])

function refuseParts(query: string): void {
  for (const name of new URLSearchParams(query).keys()) {
    if (PARTS.has(name))
      throw new S3Error('NotImplemented', `The parameter ${name} is not supported; send the whole object`)
  }
}

function headerPairs(raw: readonly string[]): readonly (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at]?.toLowerCase() ?? '', raw[at + 1] ?? ''])
  return pairs
}
