/* SHA-256 of two messages at a time by Intel's multi-buffer library, with the SHA instructions.
 *
 * In: the length of a message in bytes, and how often to hash two. Out: seconds of processor time,
 * and the digest of the first message. The benchmark `kernels` compiles and runs it. */
#include <intel-ipsec-mb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LANES = 2, DIGEST_LEN = 32 };

static double processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void submit(IMB_MGR *manager, const unsigned char *message, size_t length,
                   unsigned char *digest)
{
    IMB_JOB *job = IMB_GET_NEXT_JOB(manager);
    memset(job, 0, sizeof *job);
    job->cipher_mode = IMB_CIPHER_NULL;
    job->cipher_direction = IMB_DIR_ENCRYPT;
    job->chain_order = IMB_ORDER_HASH_CIPHER;
    job->hash_alg = IMB_AUTH_SHA_256;
    job->src = message;
    job->msg_len_to_hash_in_bytes = length;
    job->auth_tag_output = digest;
    job->auth_tag_output_len_in_bytes = DIGEST_LEN;
    IMB_SUBMIT_JOB(manager);
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    size_t length = strtoull(arguments[1], NULL, 10);
    size_t calls = strtoull(arguments[2], NULL, 10);
    unsigned char *messages = malloc(LANES * length);
    unsigned char digests[LANES][DIGEST_LEN];
    IMB_MGR *manager = alloc_mb_mgr(0);
    if (messages == NULL || manager == NULL)
        return 2;
    for (size_t index = 0; index < LANES * length; index++)
        messages[index] = (unsigned char)(index * 31 >> 3);
    /* Of the library's choices, the one with SHA instructions and not AVX-512. */
    init_mb_mgr_sse(manager);
    double start = processor_seconds();
    for (size_t call = 0; call < calls; call++) {
        for (int lane = 0; lane < LANES; lane++)
            submit(manager, messages + lane * length, length, digests[lane]);
        while (IMB_FLUSH_JOB(manager) != NULL)
            ;
    }
    printf("%.9f ", processor_seconds() - start);
    for (int index = 0; index < DIGEST_LEN; index++)
        printf("%02x", digests[0][index]);
    puts("");
    return 0;
}
