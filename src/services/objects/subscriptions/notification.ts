/** What a target is told of a change: the message of `PUT` and `POST`, and the query of `GET`. */
import type { ObjectChange, ObjectsService, SignedLink } from '../contract.ts'
import { type Channel, type ChannelMethod, secondsOf } from './subscription-schema.ts'

/** Links are made with the rights of users: nobody is handed more by a message than by the API. */
const READER = 'system/subscriptions'
const LINKS = { GET: 'get_object', PUT: 'put_object', POST: 'post_object' } as const

export async function notificationOf(
  objects: ObjectsService,
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

/** What a call without a body can say. */
export function queryOf({ event, object, time }: ObjectChange): URLSearchParams {
  const { bucket, path } = object
  return new URLSearchParams({ event, bucket, object: path, event_time: new Date(time).toISOString() })
}

function shownLink({ href, method, headers, formData }: SignedLink): Readonly<Record<string, unknown>> {
  const shownMethod: ChannelMethod | undefined = method === 'GET' || method === 'DELETE' ? undefined : method
  return {
    href,
    ...(shownMethod && { method: shownMethod }),
    ...(headers && { headers }),
    ...(formData && { form_data: formData }),
  }
}
