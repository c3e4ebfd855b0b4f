/** The header `If-Match`: a write that counts only on the version that the writer saw. */
import type { FastifyRequest } from 'fastify'
import { AppError } from '../kernel/errors.ts'

/** What `If-Match` asks for. Throws `PRECONDITION` when it can never hold. */
export async function ifMatch(
  { headers }: Pick<FastifyRequest, 'headers'>,
  current: () => Promise<{ readonly version: number }>,
): Promise<{ readonly ifVersion?: number }> {
  const header = headers['if-match']
  if (header === undefined) return {}
  const tags = header.split(',').map((tag) => tag.trim())
  const versions = tags.flatMap((tag) => {
    const digits = /^(?:W\/)?"(\d{1,15})"$/.exec(tag)?.[1]
    return digits === undefined ? [] : [Number(digits)]
  })
  const [only] = versions
  if (only !== undefined && tags.length === 1) return { ifVersion: only }
  const version = await versionOf(current)
  if (version !== undefined && (tags.includes('*') || versions.includes(version))) return { ifVersion: version }
  throw new AppError('PRECONDITION', `If-Match ${header.slice(0, 200)} does not fit what is there; read it again`)
}

async function versionOf(current: () => Promise<{ readonly version: number }>): Promise<number | undefined> {
  try {
    return (await current()).version
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}
