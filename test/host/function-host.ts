/** A host in memory with two tenants, and plugs to upload to it. */
import { packTar } from 'modern-tar'
import type { InjectOptions } from 'fastify'
import { createApp } from '../../src/host/app.ts'
import { compose, type Making } from '../../src/host/compose.ts'
import { readConfig, type Given } from '../../src/host/config.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { basic } from './sample-host.ts'

export type Body = Record<string, unknown>

/** Keys: acme and umbrella of tenants of these names, and bob of acme. */
export async function functionHost(given: Given = {}, making: Making = {}) {
  const config = readConfig({ store: 'memory:', ...given }, {}, [...SERVICES.keys()])
  const composed = await compose(config, { hashCost: 2, ...making })
  for (const tenant of ['acme', 'umbrella']) await composed.keyPairs.add({ key: tenant, secret: 's', tenant })
  await composed.keyPairs.add({ key: 'bob', secret: 's', tenant: 'acme' })
  const app = await createApp({ ...composed, log: { level: 'silent', stream: { write: () => {} } } })
  const send = (
    method: InjectOptions['method'],
    url: string,
    payload?: object | Buffer,
    key = 'acme',
    contentType = 'application/x-tar',
  ) => {
    const type = Buffer.isBuffer(payload) ? { 'content-type': contentType } : {}
    const headers = { authorization: basic(key, 's'), ...type }
    return app.inject({ method: method ?? 'GET', url, headers, ...(payload && { payload }) })
  }
  const ask = async (...request: Parameters<typeof send>) => {
    const answer = await send(...request)
    return { status: answer.statusCode, body: answer.json<Body>() }
  }
  return { app, ask, send, [Symbol.asyncDispose]: () => app.close() }
}

export type Files = Readonly<Record<string, string>>

export async function tarOf(files: Files): Promise<Buffer> {
  const entries = Object.entries(files).map(([name, body]) => ({
    header: { name, size: Buffer.byteLength(body), type: 'file' as const },
    body,
  }))
  return Buffer.from(await packTar(entries))
}

export const PLUGS = '/registry/v2/plugs'

export function manifestOf(more: object = {}): string {
  const input = [{ name: 'value', dataType: 'double', mandatory: true }]
  const own = { name: 'warmth', version: '1.0.0', type: 'sensor', runtime: 'plug-node24' }
  return JSON.stringify({ ...own, interface: { states: ['Warm', 'Cold'], input }, ...more })
}

export function nodePlug(
  version = '1.0.0',
  execute = `({ state: value > 25 ? 'Warm' : 'Cold', rawData: { value } })`,
): Files {
  return {
    'plug.json': manifestOf({ version }),
    'package.json': '{ "type": "module" }',
    'index.js': `import { definePlug } from 'reflexarc'
export default definePlug({
  name: 'warmth', version: '${version}', kind: 'sensor', states: ['Warm', 'Cold'],
  input: { value: { type: 'double', mandatory: true } },
  execute: async ({ properties: { value }, log, task, streamValue }) => { log.info('asked about ' + value); return ${execute} },
})`,
  }
}
