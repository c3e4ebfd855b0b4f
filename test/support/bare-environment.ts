/** Provides an environment without our own variables: only the path of programs, and Node's compile cache. */
const { PATH = '', NODE_COMPILE_CACHE } = process.env

export const bareEnvironment: Readonly<Record<string, string>> = {
  PATH,
  ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
}
