/** Delivers changes by calling the webscript of a channel with its credentials. */
import type { JobTimers } from '#jobs'
import { AppError } from '#kernel'
import { answerText, type InternalWebscripts, type ShownCredentials } from '#services/webscripts/contract'
import type { ObjectChange, SignedLink } from '../contract.ts'
import type { Objects } from '../service.ts'
import { Refused, type DeliveryOf } from './delivery-jobs.ts'
import type { Seal } from '#platform'
import { keyOf } from './subscription-record.ts'
import { type Channel, secondsOf } from './subscription-schema.ts'

export interface WebscriptChannelOptions {
  readonly tenant: string
  readonly objects: () => Objects
  readonly webscripts: () => InternalWebscripts | undefined
  readonly seal: Seal
  /** Returns the owner of a key pair; undefined when the pair is wrong. */
  readonly checkPair: (key: string, secret: string, address: string) => Promise<{ readonly tenant: string } | undefined>
  readonly timers: JobTimers
}

const CALL_MS = 60_000
const SHOWN = 500
/** TEST-NET address of these calls, so that wrong secrets in channels do not slow down real clients */
const INSIDE = '192.0.2.2'

/** User for whom links are signed, with the rights of users. */
const READER = 'system/subscriptions'
const LINKS = { GET: 'get_object', PUT: 'put_object', POST: 'post_object' } as const

export async function callWebscript(
  options: WebscriptChannelOptions,
  id: string,
  { subscription, change }: DeliveryOf,
  signal: AbortSignal,
): Promise<void> {
  const { tenant } = options
  const { channel } = subscription
  const webscripts = options.webscripts()
  if (webscripts === undefined) throw new AppError('CLOSED', 'this host does not serve webscripts')
  const script = webscripts.choose(channel.name, channel.version)
  const shown = await credentialsOf(options, keyOf(subscription.bucket, subscription.id), channel)
  const { isHeaderOurs } = await webscripts.authenticate(script, shown)
  if (script === undefined) throw new AppError('NOT_FOUND', `The webscript ${channel.name} does not exist`)
  webscripts.admit()
  const isGet = channel.method === 'GET'
  const message = isGet ? '' : JSON.stringify(await notificationOf(options.objects(), tenant, change, channel))
  const { authorization } = shown
  const { cause } = change
  const timeout = new AbortController()
  const cancel = options.timers.later(CALL_MS, () => timeout.abort())
  try {
    const answer = await webscripts.call(script, {
      method: channel.method,
      path: '/',
      query: isGet ? queryOf(change).toString() : '',
      headers: [
        ...(isGet ? [] : [['content-type', 'application/json'] as const]),
        ['idempotency-key', id],
        ...(authorization === undefined || isHeaderOurs ? [] : [['authorization', authorization] as const]),
      ],
      body: new TextEncoder().encode(message),
      signal: AbortSignal.any([signal, timeout.signal]),
      ...(cause && { causation: { hops: cause.hops, ...(cause.root !== undefined && { root: cause.root }) } }),
    })
    const text = await answerText(answer, SHOWN)
    if (answer.status < 200 || answer.status > 299) {
      throw new Refused(answer.status, `${channel.name} responded with status ${answer.status}: ${text}`)
    }
  } finally {
    cancel()
  }
}

/** Returns credentials for the channel's method. Throws `FORBIDDEN` for a key pair of another tenant. */
async function credentialsOf(
  { tenant, seal, checkPair }: WebscriptChannelOptions,
  subscription: string,
  { authentication }: Channel,
): Promise<ShownCredentials> {
  const { method, key = '', secret: sealed } = authentication
  const secret = sealed === undefined ? '' : seal.open(sealed, `${tenant}/${subscription}`)
  const by = (authorization: string | undefined): ShownCredentials => ({ authorization, address: INSIDE })
  switch (method) {
    case 'NONE':
      return by(undefined)
    case 'API_KEY':
      return by(`Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`)
    case 'TOKEN':
      return by(`Bearer ${secret}`)
    case 'WEBSCRIPT':
      return by(`hmac-sha256 ${secret}`)
    case 'SERVICE_TOKEN': {
      const caller = await checkPair(key, secret, INSIDE)
      if (caller?.tenant !== tenant)
        throw new AppError('FORBIDDEN', 'key and secret of the channel do not belong to this tenant')
      // the webscript never receives the token itself
      return { ...by(undefined), tokenOf: tenant }
    }
  }
}

async function notificationOf(
  objects: Objects,
  tenant: string,
  change: ObjectChange,
  { expiry, payload }: Pick<Channel, 'expiry' | 'payload'>,
): Promise<Readonly<Record<string, unknown>>> {
  const api = objects.as({ tenant, user: READER })
  const { event, object, time } = change
  const signed: [string, object][] = []
  for (const method of payload.signed_links) {
    const link = await api.sign(object.bucket, object.path, { method, expiry: Math.ceil(secondsOf(expiry)) })
    signed.push([LINKS[method], shownLink(link)])
  }
  const shown = api.show(object)
  const { store } = await api.bucket(object.bucket)
  return {
    event,
    object: {
      ...shown,
      _links: { ...(shown['_links'] as object), ...Object.fromEntries(signed) },
      metadata: { 'content-type': object.contentType, ...object.metadata },
      ...(event === 'delete' && { delete_marker: true }),
    },
    event_time: new Date(time).toISOString(),
    ...(payload.reference !== undefined && { reference: payload.reference }),
    tenant,
    store: store.name,
  }
}

function queryOf({ event, object, time }: ObjectChange): URLSearchParams {
  const { bucket, path } = object
  return new URLSearchParams({ event, bucket, object: path, event_time: new Date(time).toISOString() })
}

function shownLink({ href, method, headers, formData }: SignedLink): Readonly<Record<string, unknown>> {
  return {
    href,
    ...(method !== 'GET' && { method }),
    ...(headers && { headers }),
    ...(formData && { form_data: formData }),
  }
}
