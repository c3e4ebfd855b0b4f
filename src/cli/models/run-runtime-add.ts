/** Implements `models runtime add`: creates a Python environment for a framework. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#kernel'
import { OPTIONS } from '#host/spi'
import { dataFolder } from '../command.ts'
import type { Terminal } from '../terminal.ts'

export interface RuntimeFlags {
  data?: string
  python: string
}

/** Packages per framework, tested with the models in fixtures/models. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  sklearn: ['scikit-learn==1.9.1', 'joblib==1.6.0', 'numpy==2.4.6', 'scipy==1.17.1'],
  xgboost: ['xgboost-cpu==3.2.0', 'numpy==2.4.6', 'scipy==1.17.1'],
  tensorflow: ['tensorflow-cpu==2.21.0'],
  custom: ['dill==0.4.1', 'numpy==2.4.6', 'scipy==1.17.1', 'scikit-learn==1.9.1', 'joblib==1.6.0'],
}

export async function runRuntimeAdd(framework: string, flags: RuntimeFlags, terminal: Terminal): Promise<0> {
  const data = dataFolder(flags, process.env)
  const parent = process.env[OPTIONS.modelRuntimes.env] || join(data, 'model-runtimes')
  const folder = join(parent, framework)
  const packages = PACKAGES[framework]
  if (packages === undefined) {
    throw new AppError(
      'USAGE',
      `PyPI offers ${framework} only with drivers of graphics cards; create an environment yourself at ${folder}, such as with Debian's python3-torch and python3 -m venv --system-site-packages`,
    )
  }
  if (existsSync(folder)) throw new AppError('USAGE', `${folder} already exists; delete it to install it again`)
  await mkdir(parent, { recursive: true })
  try {
    await run(flags.python, ['-m', 'venv', folder], terminal)
    const how = ['--only-binary=:all:', '--no-input', '--disable-pip-version-check', '--quiet']
    await run(join(folder, 'bin', 'python'), ['-I', '-m', 'pip', 'install', ...how, ...packages], terminal)
  } catch (error) {
    // an incomplete folder would look like a complete environment
    await rm(folder, { recursive: true, force: true })
    throw error
  }
  terminal.out(`${framework} was installed in ${folder}: ${packages.join(', ')}\n`)
  return 0
}

function run(command: string, args: readonly string[], terminal: Terminal): Promise<void> {
  return new Promise((done, failed) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => terminal.err(text))
    }
    child.on('error', (error) => failed(new AppError('USAGE', `${command} could not be started: ${error.message}`)))
    child.on('close', (code) => {
      if (code === 0) done()
      else failed(new AppError('USAGE', `${command} ${args.slice(0, 4).join(' ')} exited with ${code}`))
    })
  })
}
