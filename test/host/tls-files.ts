/** Finds the certificates of `fixtures/tls`: ECDSA, valid until 2126, except `expired.pem`. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const PEM = Object.assign(
  (name: string): string => fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url)),
  { text: (name: string): string => readFileSync(PEM(name), 'utf8') },
)
