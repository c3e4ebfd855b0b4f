/** Log for events outside requests and tasks. Never throws. */
export interface Logger {
  warn(message: string, details?: Readonly<Record<string, unknown>>): void
  error(message: string, details?: Readonly<Record<string, unknown>>): void
}
