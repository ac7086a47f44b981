// Jest's global teardown of the system tests.
export default async function stopDatabase() {
  await globalThis.switchboardTestServer?.stop();
}
