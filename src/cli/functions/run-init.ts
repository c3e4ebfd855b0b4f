/** Implements `functions init`: writes the files of a new function. */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { AppError } from '#kernel'
import { type Manifest, readManifest, type Runtime, RUNTIMES, TYPE_NAMES } from '#services/functions'
import type { Terminal } from '../terminal.ts'

export interface InitFlags {
  runtime: string
  name?: string
  json?: boolean
}

/** Throws `USAGE` for an unknown runtime, or for a folder that is not empty. */
export async function runInit(folder: string, flags: InitFlags, terminal: Terminal): Promise<0> {
  const runtime = RUNTIMES.get(flags.runtime)
  if (runtime === undefined || runtime.example.size === 0) {
    const known = [...RUNTIMES.values()].flatMap(({ name, example }) => (example.size > 0 ? [name] : []))
    throw new AppError('USAGE', `--runtime: "${flags.runtime}" is not a runtime; use one of ${known.join(', ')}`)
  }
  if ((await namesIn(folder)).length > 0) {
    throw new AppError('USAGE', `${folder} already contains files; use a folder that is empty or does not exist`)
  }
  const name = flags.name ?? nameAfter(folder)
  const files = exampleOf(runtime, name)
  // an invalid name is rejected before anything is written
  const { manifestFile } = TYPE_NAMES[runtime.functionType]
  const manifest = readManifest(runtime.functionType, new TextEncoder().encode(files.get(manifestFile) ?? ''))
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  if (flags.json === true) terminal.out(`${JSON.stringify({ name, folder, files: [...files.keys()] })}\n`)
  else {
    const tried = {
      plugs: `--properties '${JSON.stringify(sampleOf(manifest))}'`,
      webscripts: `--path '/'`,
      models: `--body '[[10, 3]]'`,
    }[runtime.functionType]
    const next = [`reflexarc functions test ${folder} ${tried}`, `reflexarc functions deploy ${folder}`]
    terminal.out([`${name} is in ${folder}: ${[...files.keys()].join(', ')}`, ...next, ''].join('\n'))
  }
  return 0
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return []
    throw new AppError('USAGE', `${folder} is not a readable folder`)
  }
}

function exampleOf({ example, functionType }: Runtime, name: string): ReadonlyMap<string, string> {
  const { name: exampleName } = JSON.parse(example.get(TYPE_NAMES[functionType].manifestFile) ?? '{}') as {
    readonly name: string
  }
  return new Map(
    [...example].map(([path, text]) => [
      path,
      text.replaceAll(exampleName, name).replaceAll(kebab(exampleName), kebab(name)),
    ]),
  )
}

function sampleOf({ interface: { input = [] } = {} }: Manifest): Readonly<Record<string, unknown>> {
  const samples = { string: 'text', boolean: true, object: {}, array: [] } as const
  const sample = (type: string): unknown => (Object.hasOwn(samples, type) ? samples[type as keyof typeof samples] : 30)
  return Object.fromEntries(
    input
      .filter(({ mandatory }) => mandatory === true)
      .map(({ name, dataType = 'double' }) => [name, sample(dataType)]),
  )
}

/** Derives a function's name from a folder's: `too-warm` becomes `tooWarm`. */
function nameAfter(folder: string): string {
  return basename(resolve(folder)).replaceAll(/[^A-Za-z0-9]+([A-Za-z0-9])/g, (_, letter: string) =>
    letter.toUpperCase(),
  )
}

function kebab(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter}`).toLowerCase()
}
