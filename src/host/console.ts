/** Serves the console: static pages, the same for each caller, under a strict content security policy. */
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '#kernel'

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "require-trusted-types-for 'script'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const PAGE = 'index.html'

interface Page {
  readonly type: string
  readonly bytes: Buffer
  readonly zipped: Buffer
}

/** Adds the routes. The pages are read, and in a checkout built, at the first request. */
export function consoleRoutes(app: FastifyInstance): void {
  let pages: Promise<ReadonlyMap<string, Page>> | undefined
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const { '*': path = '' } = request.params as { readonly '*'?: string }
    pages ??= readPages(app.prefix)
    const found = (await pages.catch(unbuilt)).get(extname(path) in TYPES ? path : PAGE)
    if (found === undefined) throw new AppError('NOT_FOUND', `the console has no file ${path.slice(0, 200)}`)
    const isAsset = path.startsWith('assets/')
    const isZipped = request.headers['accept-encoding']?.includes('gzip') === true
    return reply
      .headers({
        'content-type': found.type,
        'content-security-policy': POLICY,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
        vary: 'accept-encoding',
        ...(isZipped && { 'content-encoding': 'gzip' }),
      })
      .send(isZipped ? found.zipped : found.bytes)
  }
  const unbuilt = (error: unknown): never => {
    pages = undefined
    throw error
  }
  const schema = { hide: true }
  for (const url of ['/console', '/console/*']) app.get(url, { config: { scope: 'public' }, schema }, serve)
}

async function readPages(prefix: string): Promise<ReadonlyMap<string, Page>> {
  const folder = await builtFolder()
  const names = await readdir(folder, { recursive: true })
  const pages = names.flatMap((name) => {
    const type = TYPES[extname(name)]
    return type === undefined ? [] : [readPage(folder, name, type, prefix)]
  })
  return new Map(await Promise.all(pages))
}

async function readPage(folder: string, name: string, type: string, prefix: string): Promise<[string, Page]> {
  const read = await readFile(join(folder, name))
  const bytes = name === PAGE ? Buffer.from(read.toString('utf8').replace('"/console/"', `"${prefix}/console/"`)) : read
  return [name.replaceAll('\\', '/'), { type, bytes, zipped: await promisify(gzip)(bytes) }]
}

/** Returns the folder beside the built code; in a checkout, that of a build of the present sources. */
async function builtFolder(): Promise<string> {
  const here = fileURLToPath(import.meta.url)
  if (!here.endsWith('.ts')) return join(dirname(here), 'console')
  const program = join(dirname(here), '..', '..', '.ci', 'console.mjs')
  const { stdout } = await promisify(execFile)(process.execPath, [program])
  return stdout
}
