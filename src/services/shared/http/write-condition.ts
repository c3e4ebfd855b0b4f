/** Handles conditional writes through `If-Match` and `If-None-Match`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ExpectedVersion, type RevisionOptions } from '#kernel'

type WithHeaders = Pick<FastifyRequest, 'headers'>

export function withTag<T extends { readonly revision?: number }>(reply: FastifyReply, entity: T): T {
  if (entity.revision !== undefined) void reply.header('etag', `"${entity.revision}"`)
  return entity
}

/** Reads the condition from the headers. Throws `PRECONDITION` when it can never hold. */
export async function writeCondition(
  { headers }: WithHeaders,
  current: () => Promise<{ readonly version: number }>,
): Promise<{ readonly ifVersion?: ExpectedVersion }> {
  const match = headers['if-match']
  const noneMatch = headers['if-none-match']
  if (match === undefined && noneMatch === undefined) return {}
  if (noneMatch === undefined) {
    const [only, ...others] = versionsIn(match ?? '')
    if (typeof only === 'number' && others.length === 0) return { ifVersion: only }
  }
  if (match === undefined && noneMatch?.trim() === '*') return { ifVersion: 'absent' }
  const version = await versionOf(current)
  if (match !== undefined && !names(match, version)) throw refused('If-Match', match)
  if (noneMatch !== undefined && names(noneMatch, version)) throw refused('If-None-Match', noneMatch)
  return { ifVersion: version ?? 'absent' }
}

export async function revisionCondition(
  request: WithHeaders,
  current: () => Promise<{ readonly revision?: number }>,
): Promise<RevisionOptions> {
  const { ifVersion } = await writeCondition(request, async () => ({ version: (await current()).revision ?? 0 }))
  return ifVersion === undefined ? {} : { ifRevision: ifVersion }
}

/** Returns the versions in a list of tags; undefined for a tag that this API did not create. */
function versionsIn(header: string): readonly (number | undefined)[] {
  return header.split(',').map((tag) => {
    const digits = /^(?:W\/)?"(\d{1,15})"$/.exec(tag.trim())?.[1]
    return digits === undefined ? undefined : Number(digits)
  })
}

function names(header: string, version: number | undefined): boolean {
  return version !== undefined && (header.trim() === '*' || versionsIn(header).includes(version))
}

function refused(name: string, header: string): AppError {
  return new AppError('PRECONDITION', `${name} ${header.slice(0, 200)} does not match the current state; read it again`)
}

async function versionOf(current: () => Promise<{ readonly version: number }>): Promise<number | undefined> {
  try {
    return (await current()).version
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}
