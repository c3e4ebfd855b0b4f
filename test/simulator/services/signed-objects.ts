/** Accesses objects through URLs that a host signs, for several simulated services. */
import type { Outcome, World } from '../world/world.ts'
import type { Question } from '../world/host-life.ts'

export const BUCKET = '/storage/v1/bucket'
/** routes, joined because a slash before a star would look like the start of a comment */
export const OBJECTS = [BUCKET, ':bucket', '*'].join('/')
export const CONTENTS = ['/reflexarc-ws-:bucket', '*'].join('/')
/** days until a signed URL expires, more than any clock of a run is set by */
const EXPIRY = 'expiry_days=7'

export interface ObjectPlace {
  readonly tenant: string
  readonly bucket: string
  readonly path: string
}

/** Puts an object at its URL; returns undefined when none was signed. */
export async function putObject(world: World, place: ObjectPlace, body: string): Promise<Outcome | undefined> {
  return atAddress(world, place, 'PUT', (signed) => ({
    ...signed,
    headers: { ...signed.headers, 'content-type': 'text/plain' },
    body,
  }))
}

export async function fetchObject(world: World, place: ObjectPlace): Promise<Outcome | undefined> {
  return atAddress(world, place, 'GET', (signed) => signed)
}

type Signed = Pick<Question, 'url' | 'headers'>

async function atAddress(
  world: World,
  { tenant, bucket, path }: ObjectPlace,
  method: 'GET' | 'PUT',
  asking: (signed: Signed) => Omit<Question, 'tenant' | 'method'>,
): Promise<Outcome | undefined> {
  const { life } = world
  const url = `${BUCKET}/${bucket}/${path}?sign=${method}&${EXPIRY}`
  const { kind, answer } = await world.ask({ method: 'GET', url, tenant })
  if (kind !== 'answered') return undefined
  const { _links: links } = answer.body as { _links: Record<string, { href: string }> }
  const { host, pathname, search } = new URL(links[method === 'GET' ? 'get_object' : 'put_object']?.href ?? '')
  const outcome = await world.ask({ ...asking({ url: pathname + search, headers: { host } }), method, tenant })
  // an in-memory store has other keys after each start
  return outcome.answer?.status === 403 && life !== world.life ? undefined : outcome
}

/** Returns the paths of all objects in a bucket under a path. */
export async function listedObjects(world: World, { tenant, bucket, path }: ObjectPlace): Promise<readonly string[]> {
  const url = `${BUCKET}/${bucket}/${path}?recursive=true`
  const { body } = await world.look({ method: 'GET', url, tenant })
  const { objects = [] } = body as { objects?: readonly { name: string }[] }
  return objects.map(({ name }) => name)
}
