/**
 * Reads the certificate of the host from files, and again when they change.
 *
 * TLS-1 files that cannot be used stop the start; later they do not replace the certificate that is in use
 * TLS-2 a changed certificate is used by the next connection; open connections continue
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type Server } from 'node:tls'
import { AppError, type Logger, messageOf } from '#kernel'

export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

interface Pair {
  readonly cert: string
  readonly key: string
}

interface CertificateOptions {
  /** Returns epoch ms */
  readonly now: () => number
  readonly logger: Logger
}

/** How long before its end a certificate causes a warning, in ms */
const SOON_MS = 14 * 86_400_000

export class Certificates {
  readonly #files: TlsFiles
  readonly #options: CertificateOptions
  readonly #servers = new Set<Pick<Server, 'setSecureContext'>>()
  #pair: Pair
  #problem: string | undefined

  private constructor(files: TlsFiles, pair: Pair, options: CertificateOptions) {
    this.#files = files
    this.#pair = pair
    this.#options = options
  }

  /** Rejects with `USAGE` when the files cannot be used. */
  static async open(files: TlsFiles, options: CertificateOptions): Promise<Certificates> {
    return new Certificates(files, await readPair(files), options)
  }

  /** Options for a server, which `keep` keeps current */
  get options(): Pair {
    return this.#pair
  }

  keep(server: Pick<Server, 'setSecureContext'>): void {
    this.#servers.add(server)
  }

  /** Uses the files if they have changed. */
  async look(): Promise<void> {
    try {
      const pair = await readPair(this.#files)
      this.#problem = undefined
      if (pair.cert === this.#pair.cert && pair.key === this.#pair.key) return
      this.#pair = pair
      for (const server of this.#servers) server.setSecureContext(pair)
      this.#options.logger.warn(`The certificate ${this.#files.cert} changed; new connections use it`)
    } catch (error) {
      const problem = `The previous certificate stays in use: ${messageOf(error)}`
      if (problem !== this.#problem) this.#options.logger.error(problem)
      this.#problem = problem
    }
  }

  readonly warnings = (): readonly string[] => {
    const { validFromDate, validToDate } = new X509Certificate(this.#pair.cert)
    const now = this.#options.now()
    const left = validToDate.getTime() - now
    const about = `The certificate ${this.#files.cert}`
    return [
      ...(this.#problem === undefined ? [] : [this.#problem]),
      ...(validFromDate.getTime() > now ? [`${about} is valid only from ${dayOf(validFromDate)} on`] : []),
      ...(left < SOON_MS
        ? [`${about} ${left < 0 ? 'expired' : 'expires'} on ${dayOf(validToDate)}; replace it and its key`]
        : []),
    ]
  }
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}

async function readPair(files: TlsFiles): Promise<Pair> {
  const [cert, key] = await Promise.all([read('--tls-cert', files.cert), read('--tls-key', files.key)])
  if (cert.includes('PRIVATE KEY-----') && !cert.includes('BEGIN CERTIFICATE'))
    throw unusable(`--tls-cert: ${files.cert} has a private key; swap --tls-cert and --tls-key`)
  const certificate = parsed(
    () => new X509Certificate(cert),
    `--tls-cert: ${files.cert} is not a certificate in PEM; write a file with -----BEGIN CERTIFICATE-----`,
  )
  const privateKey = parsed(
    () => createPrivateKey(key),
    `--tls-key: ${files.key} is not a private key in PEM without a passphrase; write a file with -----BEGIN PRIVATE KEY-----`,
  )
  if (!certificate.checkPrivateKey(privateKey))
    throw unusable(
      `--tls-key: ${files.key} is not the key of ${files.cert}; use the key for which the certificate was issued`,
    )
  const pair = { cert, key }
  parsed(
    () => createSecureContext(pair),
    `--tls-cert: ${files.cert} has an unusable chain; write its certificates in order`,
  )
  return pair
}

async function read(option: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw unusable(`${option}: ${file} cannot be read: ${messageOf(error)}; name a readable file`)
  }
}

function parsed<T>(parse: () => T, problem: string): T {
  try {
    return parse()
  } catch (error) {
    throw unusable(problem, error)
  }
}

function unusable(problem: string, cause?: unknown): AppError {
  return new AppError('USAGE', problem, { cause })
}
