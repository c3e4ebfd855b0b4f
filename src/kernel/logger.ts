/** Where is told what no request and no task is to blame for. Never throws. */
export interface Logger {
  warn(message: string, details?: Readonly<Record<string, unknown>>): void
  error(message: string, details?: Readonly<Record<string, unknown>>): void
}
