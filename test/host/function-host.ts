/** Builds plugs to upload to a host. */
import { packTar } from 'modern-tar'

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
